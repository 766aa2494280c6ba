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
    expect("the payer's verdict on the far kiosk", heard["verdict"], "far")
    expect("the level of the far kiosk", heard["rssi_dbm"], FAR)
    refused = payer.ctl("pay", "--yes", "--max", "50.00", "--timeout", "3")
    if refused.status not in (1, 75):
        raise AssertionError(
            f"gotchu-ctl pay far from the kiosk ended with {refused.status}: {refused.error}"
        )
    expect("the payer's balance after the refused payment", payer.balance(), OPENING_BALANCE)

    events = payer.events()
    moved, mark = monotonic(), events.now()
    world.set_levels(TAP)
    at, _ = events.wait(
        "the payer's verdict tap on the kiosk",
        lambda event: event["event"] == "session"
        and (event["session"]["eid"], event["session"]["verdict"]) == (eid, "tap"),
        since=mark,
    )
    world.figures["tap_seconds"] = round(at - moved, 2)

    resolved = payer.client.post("/v1/resolve", {"eid": eid})
    expect("the resolved amount", resolved["amount_cents"], AMOUNT)
    expect("the resolved payee", resolved["payee"], "tap-kiosk")
    expect("the resolved memo", resolved["memo"], "Coffee")

    began = monotonic()
    paid = payer.ctl("pay", "--yes", "--max", "50.00", "--timeout", "30", "--json")
    world.figures["pay_command_seconds"] = round(monotonic() - began, 2)
    expect(f"the exit status of pay ({paid.error})", paid.status, 0)
    expect("the payment's state in the output of pay", paid.object["state"], "paid")

    eventually("the kiosk to report the payment", lambda: kiosk.request_state(request) == "paid")
    world.expect_silence(kiosk)
    expect("the payer's balance after the payment", payer.balance(), OPENING_BALANCE - AMOUNT)
    expect("the kiosk's balance after the payment", kiosk.balance(), OPENING_BALANCE + AMOUNT)
