"""Waiting for an event, for as long as the machine needs."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import monotonic, sleep
from typing import TypeVar

from guest.deadline import Late

Found = TypeVar("Found")

PATIENCE = int(os.environ.get("GOTCHU_TEST_PATIENCE", 1))
EFFORT = int(os.environ.get("GOTCHU_TEST_EFFORT", 1))

PAUSE = 0.05
"""Seconds between two looks."""

LIMIT = 20.0
"""Seconds within which what must happen has happened beside other tests."""


def eventually(what: str, look: Callable[[], Found | None], seconds: float = LIMIT) -> Found:
    """Looks until the answer is something; that answer is returned.

    A look costs some milliseconds of a browser, and what is waited for is often measured.
    """
    limit = monotonic() + seconds * PATIENCE
    while not (found := look()):
        if monotonic() > limit:
            raise Late(f"timed out after {seconds * PATIENCE:g} s waiting for {what}")
        sleep(PAUSE)
    return found


def expect(what: str, actual: object, wanted: object) -> None:
    """Fails with both values; a bare assertion would say neither."""
    if actual != wanted:
        raise AssertionError(f"{what}: {actual!r}, and not {wanted!r}")


def expect_at_most(what: str, actual: float, limit: float) -> None:
    """Fails above a limit of time, which a slow machine stretches."""
    if actual > limit * PATIENCE:
        raise AssertionError(f"{what}: {actual:g}, and at most {limit:g}")
