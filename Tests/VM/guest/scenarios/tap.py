"""A whole payment: the payer hears a request from afar, comes to the till, resolves and pays the
request, and both sides know the result."""

from __future__ import annotations

from time import monotonic

from ..deadline import eventually
from ..scenario import FAR, TAP, World, expect
from ..stack import OPENING_BALANCE

AMOUNT = 5_000


def run(world: World) -> None:
    kiosk, payer = world.kiosk, world.payer
    world.set_levels(FAR)
    world.start(kiosk, payer)
    request = kiosk.request(AMOUNT, memo="Coffee")
    eid = request["eid"]
    if not world.is_on_air(eid):
        raise AssertionError("the request was answered before its EID was on the air")
    world.figures["advertising_interval_ms"] = world.air.state()["controllers"]["c0"]["on_air"][0][
        "interval_ms"
    ]

    heard = eventually("the payer to hear the kiosk", lambda: payer.presence(eid))
    expect("the verdict from afar", heard["verdict"], "far")
    expect("the level from afar", heard["rssi_dbm"], FAR)
    refused = payer.ctl("pay", "--yes", "--max", "50.00", "--timeout", "3")
    if refused.status not in (1, 75):
        raise AssertionError(f"paying from afar ended with {refused.status}: {refused.error}")
    expect("the payer's balance after that", payer.balance(), OPENING_BALANCE)

    events = payer.events()
    moved, mark = monotonic(), events.now()
    world.set_levels(TAP)
    at, _ = events.wait(
        "the verdict tap",
        lambda event: event["event"] == "session"
        and (event["session"]["eid"], event["session"]["verdict"]) == (eid, "tap"),
        since=mark,
    )
    world.figures["tap_seconds"] = round(at - moved, 2)

    resolved = payer.client.post("/v1/resolve", {"eid": eid})
    expect("the amount that is shown", resolved["amount_cents"], AMOUNT)
    expect("the payee that is shown", resolved["payee"], "tap-kiosk")
    expect("the memo that is shown", resolved["memo"], "Coffee")

    began = monotonic()
    paid = payer.ctl("pay", "--yes", "--max", "50.00", "--timeout", "30", "--json")
    world.figures["pay_command_seconds"] = round(monotonic() - began, 2)
    expect(f"the exit status of pay ({paid.error})", paid.status, 0)
    expect("the payer's word", paid.object["state"], "paid")

    eventually("the kiosk to know", lambda: kiosk.request_state(request) == "paid")
    world.expect_silence(kiosk)
    expect("what the payer has left", payer.balance(), OPENING_BALANCE - AMOUNT)
    expect("what the kiosk has", kiosk.balance(), OPENING_BALANCE + AMOUNT)
