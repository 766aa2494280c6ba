"""Waits for named conditions, with a time limit."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep
from typing import TypeVar

Found = TypeVar("Found")

TIMEOUT = 40.0
"""The limit in seconds for any event, even on a slow emulated CPU."""

FIRST_START_TIMEOUT = 2000.0
"""The limit in seconds for a program's first start. Reading its files takes real time, and
meanwhile the machine's own time runs on."""

SHORTEST_PAUSE = 0.05
"""The first pause between two checks, in seconds."""

PAUSE_SHARE = 0.1
"""The pause between two checks, as a share of the time waited so far. A measured time is too long
by at most this share, or by SHORTEST_PAUSE. In an emulated machine, waiting costs nothing and
checking is expensive."""

STEADY_PAUSE = 0.2
"""The pause between two checks of a state that must last, in seconds."""


class WaitTimeout(AssertionError):
    """An awaited event did not happen in time."""


def eventually(
    what: str, condition: Callable[[], Found | None], seconds: float = TIMEOUT
) -> Found:
    """Calls `condition` until its answer is true, and returns this answer.

    `what` completes "timed out after 40 s waiting for …". None, False or an empty value means that
    the condition is not true yet.
    """
    began = monotonic()
    while True:
        found = condition()
        if found:
            return found
        waited = monotonic() - began
        if waited > seconds:
            raise WaitTimeout(f"timed out after {seconds:g} s waiting for {what}")
        sleep(max(SHORTEST_PAUSE, waited * PAUSE_SHARE))


def stays_true(what: str, condition: Callable[[], bool], seconds: float) -> None:
    """Checks that `condition` returns true for some seconds. `what` is the subject of "… did not
    last for 5 s"."""
    end = monotonic() + seconds
    while monotonic() < end:
        if not condition():
            raise AssertionError(f"{what} did not last for {seconds:g} s")
        sleep(STEADY_PAUSE)
