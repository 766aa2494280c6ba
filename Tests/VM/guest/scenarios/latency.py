"""Measures the time from tap distance to the verdict `tap`, with and without a duplicate filter in
the controller.

Each round begins far away, at another moment of the scan, and ends with the daemon's event. The
kiosk is only an advert of the simulated air, every 100 ms, for a session of the server. So only the
listening daemon is measured.
"""

from __future__ import annotations

from time import monotonic

from ..deadline import eventually
from ..events import Events
from ..scenario import FAR, TAP, World

ROUNDS = 4
LIMITS = {"none": 1.0, "addr": 2.0}
"""The limits in seconds, by the controller's duplicate filter. One round may exceed its limit,
because the emulated CPU may stand still for a moment."""


def run(world: World) -> None:
    world.start(world.payer)
    # If the previous scenario has killed bluetoothd, the kernel may still run its scan for 10 s.
    eventually(
        "the payer to scan", lambda: world.payer.client.get("/v1/status")["radio"]["is_scanning"]
    )
    measure(world, world.payer.events())


def measure(world: World, events: Events, rounds: int = ROUNDS) -> None:
    """Measures with each filter of the controller. All rounds except one must be within the
    limit."""
    late = []
    for mode, limit in LIMITS.items():
        world.air.duplicates(mode)
        times = sorted(tap(world, events) for _ in range(rounds))
        world.figures[f"tap_seconds_{mode}"] = times[-1]
        world.figures[f"tap_seconds_{mode}_fastest"] = times[0]
        if times[-2] > limit:
            late.append(
                f"the slowest two verdicts with the duplicate filter {mode} took {times[-2:]} s,"
                f" and only one may take more than {limit} s"
            )
    if late:
        raise AssertionError("; ".join(late))


def tap(world: World, events: Events) -> float:
    """Moves an advert from far to tap distance and away again. Returns the seconds until the
    verdict."""
    payee = world.server.login("latency@example.com")
    eid = payee.post("/sessions/create", {"amount_cents": 100, "ttl_seconds": 300})["eid"]
    world.air.add(
        f"near | 5B:70:01:02:03:C0 random | nonconnectable | 100 | {FAR}"
        f' | 03:edfe 16:edfe+"{eid}" |'
    )
    eventually(
        "the advert's verdict far",
        lambda: (found := world.payer.presence(eid)) and found["verdict"] == "far",
    )
    mark, moved = events.now(), monotonic()
    world.air.level("near", "*", TAP)
    at, _ = events.wait(
        "the advert's verdict tap",
        lambda event: event["event"] == "session"
        and (event["session"]["eid"], event["session"]["verdict"]) == (eid, "tap"),
        since=mark,
    )
    world.air.remove("near")
    eventually("the payer to forget the removed advert", lambda: world.payer.presence(eid) is None)
    return round(at - moved, 2)
