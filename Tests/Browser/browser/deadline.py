"""Waits for events, with deadlines that depend on the machine."""

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
"""Seconds between two checks."""

LIMIT = 20.0
"""The limit in seconds for any event, while other tests run too."""


def eventually(what: str, look: Callable[[], Found | None], seconds: float = LIMIT) -> Found:
    """Repeats `look` until its answer is true, and returns that answer.

    A look costs the browser some milliseconds, and the waiting time is often measured.
    """
    limit = monotonic() + seconds * PATIENCE
    while not (found := look()):
        if monotonic() > limit:
            raise Late(f"timed out after {seconds * PATIENCE:g} s waiting for {what}")
        sleep(PAUSE)
    return found


def expect(what: str, actual: object, wanted: object) -> None:
    """Fails with both values; a bare assertion would show neither."""
    if actual != wanted:
        raise AssertionError(f"{what}: {actual!r}, and not {wanted!r}")


def expect_at_most(what: str, actual: float, limit: float) -> None:
    """Fails above a limit of time, which a slow machine stretches."""
    if actual > limit * PATIENCE:
        raise AssertionError(f"{what}: {actual:g}, and at most {limit:g}")
