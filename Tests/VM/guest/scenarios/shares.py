"""A till has more requests than its adapter has advertising slots. Each request is on the air in
its turn, and the payer hears all."""

from __future__ import annotations

from time import monotonic

from ..deadline import eventually
from ..scenario import NEAR, World, expect
from .replugged import plug, unplug

SLOTS, REQUESTS = 3, 4
"""The adapter's slots and the open requests. One slot stays free for a new EID, so two requests are
on the air at a time."""

WINDOW = 12.0
"""The time of observation in seconds. Each turn takes 4 s, so all requests have a turn within 8
s."""


def run(world: World) -> None:
    kiosk, payer = world.kiosk, world.payer
    kiosk.prefix = ["env", "GOTCHU_EID_SECONDS=0"]
    world.set_levels(NEAR)
    unplug(world, 0, 0)
    plug(world, 0, 0, slots=SLOTS)
    try:
        world.start(kiosk, payer)
        radio = kiosk.client.get("/v1/status")["radio"]
        expect("the adapter's slots", radio["advertising_capacity"], SLOTS)
        share(world)
    finally:
        unplug(world, 0, 0)
        plug(world, 0, 0)


def share(world: World) -> None:
    requests = [world.kiosk.request(100 + index) for index in range(REQUESTS)]
    eids = [str(each["eid"]) for each in requests]
    before = sent_by_eid(world, eids)
    off_air_count = controller(world)["off_air_count"]
    most = 0
    end = monotonic() + WINDOW

    def enough() -> bool:
        nonlocal most
        most = max(most, len(controller(world)["on_air"]))
        return monotonic() > end

    eventually("the end of the observation", enough)
    after = sent_by_eid(world, eids)
    sent = {eid: after[eid] - before[eid] for eid in eids}
    fair = sum(sent.values()) / REQUESTS
    world.figures.update(adverts_least=min(sent.values()), adverts_most=max(sent.values()))
    if min(sent.values()) < 0.35 * fair or max(sent.values()) > 1.75 * fair:
        raise AssertionError(f"the slots are not shared fairly: {sent}")
    count = controller(world)["off_air_count"]
    expect("the number of moments without an EID on the air", count, off_air_count)
    if most > SLOTS:
        raise AssertionError(f"{most} adverts were on the air at once, on {SLOTS} slots")

    # Each EID is heard during its turn.
    for eid in eids:
        eventually(f"the payer to hear {eid}", lambda eid=eid: world.payer.presence(eid))
    for request in requests:
        world.kiosk.client.call("DELETE", f"/v1/requests/{request['id']}")
    world.expect_silence(world.kiosk)


def controller(world: World) -> dict[str, object]:
    found: dict[str, object] = world.air.state()["controllers"][world.kiosk.controller]
    return found


def sent_by_eid(world: World, eids: list[str]) -> dict[str, int]:
    """Returns the number of adverts that the till has sent with each EID."""
    counts = world.air.state()["controllers"][world.kiosk.controller]["sent_by_data"]
    return {
        eid: sum(n for data, n in counts.items() if eid.encode().hex() in data) for eid in eids
    }
