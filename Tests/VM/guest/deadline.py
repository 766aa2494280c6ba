"""Waits for named conditions, with a time limit."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep
from typing import TypeVar

Found = TypeVar("Found")

PATIENCE = 40.0
"""The limit in seconds for any event, even on a slow emulated CPU."""

FIRST_PATIENCE = 2000.0
"""The limit in seconds for a program's first start, while its files are read in real time."""

SHORTEST_PAUSE = 0.05
"""The first pause between two checks, in seconds."""

SLOWNESS = 0.1
"""The pause between two checks, as a share of the time waited so far. A measured time is too long
by at most this share. In an emulated machine, waiting costs nothing and checking is expensive."""

STEADY_PAUSE = 0.2
"""The pause between two checks of a state that must last, in seconds."""


class Late(AssertionError):
    """An awaited event did not happen in time."""


def eventually(
    what: str, look: Callable[[], Found | None], seconds: float = PATIENCE
) -> Found:
    """Calls `look` until its answer is true, and returns this answer.

    `what` completes "timed out waiting for …". None, False or an empty value means that the
    condition is not true yet.
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
    """Checks that `look` returns true for some seconds."""
    end = monotonic() + seconds
    while monotonic() < end:
        if not look():
            raise AssertionError(f"it did not stay so: {what}")
        sleep(STEADY_PAUSE)
