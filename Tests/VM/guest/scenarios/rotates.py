"""A request changes its EID every few seconds. The new EID is on the air before the old EID leaves
the air."""

from __future__ import annotations

from ..deadline import eventually
from ..scenario import TAP, World, expect
from ..stack import OPENING_BALANCE

AMOUNT = 450
SECONDS = 4
CHANGES = 2


def run(world: World) -> None:
    kiosk, payer = world.kiosk, world.payer
    kiosk.prefix = ["env", f"GOTCHU_EID_SECONDS={SECONDS}"]
    world.set_levels(TAP)
    world.start(kiosk, payer)
    request = kiosk.request(AMOUNT, ttl_seconds=300)
    path = f"/v1/requests/{request['id']}"
    eids = [str(request["eid"])]
    addresses = {eventually("it on the air", lambda: address(world, eids[0]))}
    off_air_count = world.air.state()["controllers"]["c0"]["off_air_count"]
    eventually("the payer to hear it", lambda: payer.presence(eids[0]))

    while len(eids) <= CHANGES:
        eid = eventually(
            "another EID",
            lambda: (now := str(kiosk.client.get(path)["eid"])) not in eids and now,
        )
        addresses.add(eventually("it on the air", lambda eid=eid: address(world, eid)))
        # The payer hears the new EID before the old EID leaves the air.
        eventually("the payer to hear the new one", lambda eid=eid: payer.presence(eid))
        old = eids[-1]
        eventually("the old one to leave the air", lambda old=old: not world.is_on_air(old))
        eids.append(eid)

    state = world.air.state()["controllers"]["c0"]
    expect("moments without any of them on the air", state["off_air_count"], off_air_count)
    expect("addresses that were seen", len(addresses), CHANGES + 1)
    # The second to last EID still resolves to the same request.
    resolved = payer.client.post("/v1/resolve", {"eid": eids[-2]})
    expect("the amount", resolved["amount_cents"], AMOUNT)
    payment = payer.tap(AMOUNT, lambda: str(kiosk.client.get(path)["eid"]))
    eventually("the payment", lambda: payer.payment(payment["id"])["state"] == "paid")
    expect("what the payer has left", payer.balance(), OPENING_BALANCE - AMOUNT)
    world.expect_silence(kiosk)


def address(world: World, eid: str) -> str | None:
    """Returns the sender's address of the advert with this EID, or None if it is not on the air."""
    for each in world.air.state()["controllers"]["c0"]["on_air"]:
        if eid.encode().hex() in each["data"]:
            return str(each["address"])
    return None
