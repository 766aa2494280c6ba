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
    addresses = {eventually("the request to be on the air", lambda: address(world, eids[0]))}
    off_air_count = world.air.state()["controllers"]["c0"]["off_air_count"]
    eventually("the payer to hear the request", lambda: payer.presence(eids[0]))

    while len(eids) <= CHANGES:
        eid = eventually(
            "the request's next EID",
            lambda: (now := str(kiosk.client.get(path)["eid"])) not in eids and now,
        )
        sender = eventually("the new EID to be on the air", lambda eid=eid: address(world, eid))
        addresses.add(sender)
        # The payer hears the new EID before the old EID leaves the air.
        eventually("the payer to hear the new EID", lambda eid=eid: payer.presence(eid))
        old = eids[-1]
        eventually("the old EID to leave the air", lambda old=old: not world.is_on_air(old))
        eids.append(eid)

    state = world.air.state()["controllers"]["c0"]
    expect("the number of moments without an EID on the air", state["off_air_count"], off_air_count)
    expect("the number of addresses on the air", len(addresses), CHANGES + 1)
    # The second to last EID still resolves to the same request.
    resolved = payer.client.post("/v1/resolve", {"eid": eids[-2]})
    expect("the amount resolved from the old EID", resolved["amount_cents"], AMOUNT)
    payment = payer.tap(AMOUNT, lambda: str(kiosk.client.get(path)["eid"]))
    eventually("the payment to be paid", lambda: payer.payment(payment["id"])["state"] == "paid")
    expect("the payer's balance after the payment", payer.balance(), OPENING_BALANCE - AMOUNT)
    world.expect_silence(kiosk)


def address(world: World, eid: str) -> str | None:
    """Returns the sender's address of the advert with this EID, or None if it is not on the air."""
    for each in world.air.state()["controllers"]["c0"]["on_air"]:
        if eid.encode().hex() in each["data"]:
            return str(each["address"])
    return None
