"""The medium between radios: levels, noise and loss."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Protocol

from .advert import Advert, Stranger
from .scheduler import Scheduler, Timer

ANYONE = "*"

UNKNOWN_LEVEL = 127
"""The reported level without a measurement (Core Specification Vol 4 Part E 7.7.65.2)."""

JITTER = 0.010
"""The maximum random delay before the next advert, in seconds (Vol 6 Part B 4.4.2.2.1)."""


class Receiver(Protocol):
    """An object that can receive adverts."""

    name: str

    def hear(self, advert: Advert, level: int, answered: bool) -> None:
        """Handles an advert that arrived at `level` dBm. `answered` is true if its scan response
        arrives too."""


class Medium:
    """Carries adverts from each sender to every receiver in reach."""

    def __init__(self, scheduler: Scheduler, random: Random) -> None:
        self.scheduler = scheduler
        self.random = random
        self.receivers: list[Receiver] = []
        self.noise = 0.0
        """The standard deviation of each measured level, in dB."""
        self.loss = 0.0
        """The probability that a receiver misses an advert."""
        self.response_loss = 0.0
        """The probability that a receiver misses a scan response."""
        self.default_level = -60
        self.sent: dict[str, int] = {}
        """The number of adverts sent so far, by sender."""
        self.sent_by_data: dict[str, dict[str, int]] = {}
        """The number of adverts sent so far by each controller, by their data."""
        self._levels: dict[tuple[str, str], float | None] = {}
        self._ramps: dict[tuple[str, str], Timer] = {}
        self._strangers: dict[str, Beacon] = {}

    def level(self, sender: str, receiver: str) -> float | None:
        """Returns the level from a sender to a receiver in dBm, or None if it is out of reach. The
        most specific setting counts."""
        for link in ((sender, receiver), (sender, ANYONE), (ANYONE, receiver), (ANYONE, ANYONE)):
            if link in self._levels:
                return self._levels[link]
        return self.default_level

    def set_level(self, sender: str, receiver: str, level: float | None) -> None:
        ramp = self._ramps.pop((sender, receiver), None)
        if ramp is not None:
            ramp.cancel()
        self._levels[sender, receiver] = level

    def ramp(self, sender: str, receiver: str, start: float, end: float, seconds: float) -> None:
        """Changes the level of a link evenly from `start` to `end`, in ten steps a second."""
        began = self.scheduler.clock()

        def step() -> None:
            done = min(1.0, (self.scheduler.clock() - began) / seconds) if seconds > 0 else 1.0
            self.set_level(sender, receiver, start + (end - start) * done)
            if done < 1:
                self._ramps[sender, receiver] = self.scheduler.after(0.1, step)

        step()

    def transmit(self, sender: str, advert: Advert) -> None:
        """Sends an advert to all receivers in reach except its sender."""
        self.sent[sender] = self.sent.get(sender, 0) + 1
        for receiver in self.receivers:
            if receiver.name == sender:
                counts = self.sent_by_data.setdefault(sender, {})
                counts[advert.data.hex()] = counts.get(advert.data.hex(), 0) + 1
                continue
            level = self.level(sender, receiver.name)
            if level is None or self._happens(self.loss):
                continue
            receiver.hear(advert, self._measured(level), not self._happens(self.response_loss))

    def add(self, stranger: Stranger) -> None:
        """Adds a stranger to the air. A stranger with the same name is replaced."""
        self.remove(stranger.name, exactly=True)
        self.set_level(stranger.name, ANYONE, stranger.level)
        beacon = Beacon(self, stranger.name, lambda: stranger.advert, stranger.interval)
        self._strangers[stranger.name] = beacon
        beacon.start()

    def remove(self, name: str, exactly: bool = False) -> int:
        """Removes the strangers whose names begin with `name`, or are `name` if `exactly`. Returns
        their number."""
        names = [
            other
            for other in self._strangers
            if other == name or not exactly and other.startswith(name)
        ]
        for name in names:
            self._strangers.pop(name).stop()
        return len(names)

    def clear(self) -> None:
        """Removes all strangers, and resets all levels, counts by data, noise and loss."""
        self.remove("")
        for ramp in self._ramps.values():
            ramp.cancel()
        self._ramps.clear()
        self._levels.clear()
        self.sent_by_data.clear()
        self.noise = self.loss = self.response_loss = 0.0

    def _measured(self, level: float) -> int:
        if level == UNKNOWN_LEVEL:
            return UNKNOWN_LEVEL
        if self.noise:
            level += self.random.gauss(0, self.noise)
        return round(max(-127.0, min(20.0, level)))

    def _happens(self, probability: float) -> bool:
        return probability > 0 and self.random.random() < probability


class Beacon:
    """Repeats an advert at an interval. The first advert comes at a random time, at most 20 ms
    later."""

    def __init__(
        self, medium: Medium, sender: str, advert: Callable[[], Advert], interval: float
    ) -> None:
        self.medium = medium
        self.sender = sender
        self.advert = advert
        self.interval = interval
        self._timer: Timer | None = None

    @property
    def is_on(self) -> bool:
        return self._timer is not None

    def start(self) -> None:
        self.stop()
        first = self.medium.random.random() * min(self.interval, 2 * JITTER)
        self._timer = self.medium.scheduler.after(first, self._send)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _send(self) -> None:
        self.medium.transmit(self.sender, self.advert())
        pause = self.interval + self.medium.random.random() * JITTER
        self._timer = self.medium.scheduler.after(pause, self._send)
