"""The adverts and their times, which are the same for every listener."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

KIOSKS = 20
"""The number of devices that advertise all the time, each with an EID. Such an advert is the most
expensive kind, because a stranger's advert is dropped at the first comparison."""

PROBES_PER_SECOND = 5
"""The number of adverts per second with a new EID. gotchud reports a new EID at once, so these
adverts measure the delay from the signal to the event."""


@dataclass(frozen=True, slots=True)
class Advert:
    device: int
    eid: str
    rssi: int
    is_new: bool


def schedule(rate: int, seconds: float, first_probe: int) -> Iterator[Advert]:
    """Yields the adverts of a run, in order."""
    every = max(2, rate // PROBES_PER_SECOND)
    probe = first_probe
    for index in range(int(rate * seconds)):
        # The level is far, so that gotchud does not ask the payment server to resolve the EID.
        rssi = -80 - index % 7
        if index % every == every - 1:
            probe += 1
            yield Advert(probe, f"{probe:010x}", rssi, True)
        else:
            device = index % KIOSKS
            yield Advert(device, f"{0xFFFF000000 + device:010x}", rssi, False)


def play(
    rate: int, seconds: float, first_probe: int, send: Callable[[Advert], None]
) -> dict[str, object]:
    """Sends each advert at its time. Returns the number of sent adverts, the time of each probe (an
    advert with a new EID), and the longest delay of the sender."""
    sent = 0
    probes: dict[str, int] = {}
    latest = 0.0
    begin = time.monotonic() + 0.1
    for index, advert in enumerate(schedule(rate, seconds, first_probe)):
        due = begin + index / rate
        left = due - time.monotonic()
        if left > 0:
            time.sleep(left)
        else:
            latest = max(latest, -left)
        if advert.is_new:
            probes[advert.eid] = time.monotonic_ns()
        send(advert)
        sent += 1
    return {"sent": sent, "probes": probes, "latest_ms": latest * 1000}
