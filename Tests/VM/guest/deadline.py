"""Waiting for something to become true, with a named end."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep
from typing import TypeVar

Found = TypeVar("Found")

PATIENCE = 40.0
"""Seconds within which anything that must happen has happened, however slow the emulated CPU is."""

INTERVAL = 0.05
"""Seconds between two looks."""


class Late(AssertionError):
    """What was waited for did not happen in time."""


def eventually(
    what: str, look: Callable[[], Found | None], seconds: float = PATIENCE
) -> Found:
    """Looks until the answer is something; that answer is returned.

    `what` completes "timed out waiting for …". An answer of None, False or nothing means: not yet.
    """
    end = monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if monotonic() > end:
            raise Late(f"timed out after {seconds:g} s waiting for {what}")
        sleep(INTERVAL)


def steadily(what: str, look: Callable[[], bool], seconds: float) -> None:
    """Checks that something stays true for a while."""
    end = monotonic() + seconds
    while monotonic() < end:
        if not look():
            raise AssertionError(f"it did not stay so: {what}")
        sleep(INTERVAL)
