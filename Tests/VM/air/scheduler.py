"""Timers for a program with one thread."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from time import monotonic


class Timer:
    """An action that is due at a time. A second cancellation, or a late one, has no effect."""

    __slots__ = ("action", "due")

    def __init__(self, due: float, action: Callable[[], None]) -> None:
        self.due = due
        self.action: Callable[[], None] | None = action

    def cancel(self) -> None:
        self.action = None


class Scheduler:
    """Runs actions when they are due, by a clock in seconds."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self._queue: list[tuple[float, int, Timer]] = []
        self._count = 0

    def at(self, due: float, action: Callable[[], None]) -> Timer:
        """Runs `action` when the clock reaches `due`. Actions with the same time run in the order
        of the calls."""
        timer = Timer(due, action)
        self._count += 1
        heapq.heappush(self._queue, (due, self._count, timer))
        return timer

    def after(self, seconds: float, action: Callable[[], None]) -> Timer:
        return self.at(self.clock() + seconds, action)

    def run_due(self) -> None:
        """Runs all actions that are due at the time of the call.

        An action that is added meanwhile waits for the next call. Otherwise, a sender that is late
        would keep the loop from reading its file descriptors.
        """
        now = self.clock()
        last = self._count
        while self._queue and self._queue[0][0] <= now and self._queue[0][1] <= last:
            _, _, timer = heapq.heappop(self._queue)
            if timer.action is not None:
                timer.action()

    def next_due(self) -> float | None:
        """Returns the time of the next action, or None if there is none."""
        while self._queue and self._queue[0][2].action is None:
            heapq.heappop(self._queue)
        return self._queue[0][0] if self._queue else None
