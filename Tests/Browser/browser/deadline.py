"""Waits for conditions, with deadlines that GOTCHU_TEST_PATIENCE lengthens."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import monotonic, sleep
from typing import TypeVar

from guest.deadline import WaitTimeout

Found = TypeVar("Found")

PATIENCE = int(os.environ.get("GOTCHU_TEST_PATIENCE", 1))
EFFORT = int(os.environ.get("GOTCHU_TEST_EFFORT", 1))

PAUSE = 0.05
"""Seconds between two checks."""

LIMIT = 20.0
"""The limit in seconds for a condition. It is long, because other tests run at the same time."""


def eventually(what: str, condition: Callable[[], Found | None], seconds: float = LIMIT) -> Found:
    """Calls `condition` until its answer is true, and returns this answer.

    The pause between calls is short because the waiting time is often measured, and not shorter
    because each call costs the browser some milliseconds.
    """
    limit = monotonic() + seconds * PATIENCE
    while not (found := condition()):
        if monotonic() > limit:
            raise WaitTimeout(f"timed out after {seconds * PATIENCE:g} s waiting for {what}")
        sleep(PAUSE)
    return found


def expect(what: str, actual: object, wanted: object) -> None:
    """Fails with both values if they differ. A plain `assert` would show neither."""
    if actual != wanted:
        raise AssertionError(f"{what}: {actual!r}, and not {wanted!r}")


def expect_at_most(what: str, actual: float, limit: float) -> None:
    """Fails if a time is above a limit, which GOTCHU_TEST_PATIENCE lengthens."""
    if actual > limit * PATIENCE:
        raise AssertionError(f"{what}: {actual:g}, and at most {limit:g}")
