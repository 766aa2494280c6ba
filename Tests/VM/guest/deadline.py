"""Waiting for something to become true, with a named end."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep
from typing import TypeVar

Found = TypeVar("Found")

PATIENCE = 40.0
"""Seconds within which anything that must happen has happened, however slow the emulated CPU is."""

FIRST_PATIENCE = 2000.0
"""The same for what is started for the first time, while its files come in real time."""

SHORTEST_PAUSE = 0.05
"""Seconds between two looks at first."""

SLOWNESS = 0.1
"""The pause as a share of what was waited so far: what takes long is looked at seldom, and what is measured is
at most so much too long. In an emulated machine waiting costs nothing, and every look much."""

STEADY_PAUSE = 0.2
"""Seconds between two looks at what is to stay as it is."""


class Late(AssertionError):
    """What was waited for did not happen in time."""


def eventually(
    what: str, look: Callable[[], Found | None], seconds: float = PATIENCE
) -> Found:
    """Looks until the answer is something; that answer is returned.

    `what` completes "timed out waiting for …". An answer of None, False or nothing means: not yet.
    """
    began = monotonic()
    while True:
        found = look()
        if found:
            return found
        waited = monotonic() - began
        if waited > seconds:
            raise Late(f"timed out after {seconds:g} s waiting for {what}")
        sleep(max(SHORTEST_PAUSE, waited * SLOWNESS))


def steadily(what: str, look: Callable[[], bool], seconds: float) -> None:
    """Checks that something stays true for a while."""
    end = monotonic() + seconds
    while monotonic() < end:
        if not look():
            raise AssertionError(f"it did not stay so: {what}")
        sleep(STEADY_PAUSE)
