"""bluetoothd is killed during a request. After its restart, the daemons put the request on the air
again, and it is paid."""

from __future__ import annotations

from time import monotonic

from ..deadline import eventually
from ..scenario import TAP, World, expect
from ..stack import OPENING_BALANCE, is_powered

AMOUNT = 600


def run(world: World) -> None:
    kiosk, payer = world.kiosk, world.payer
    world.set_levels(TAP)
    world.start(kiosk, payer)
    request = kiosk.request(AMOUNT)
    eventually("the payer to hear the request", lambda: payer.presence(request["eid"]))

    world.platform.bluetoothd.kill()
    eventually(
        "the payer to report a Bluetooth problem",
        lambda: any(
            item["code"].startswith("bluetooth")
            for item in payer.client.get("/v1/status")["health"]
        ),
    )
    world.platform.start_bluetoothd()
    eventually("the adapters to be powered", lambda: is_powered(0) and is_powered(1))
    ready = monotonic()
    eventually("the request to be on the air again", lambda: world.is_on_air(request["eid"]))
    world.figures["on_air_again_seconds"] = round(monotonic() - ready, 2)

    eventually(
        "the payer's verdict tap on the request",
        lambda: (found := payer.presence(request["eid"])) and found["verdict"] == "tap",
    )
    world.figures["tap_again_seconds"] = round(monotonic() - ready, 2)
    payment = payer.tap(AMOUNT, lambda: str(request["eid"]))
    eventually("the payment to be paid", lambda: payer.payment(payment["id"])["state"] == "paid")
    expect("the kiosk's balance after the payment", kiosk.balance(), OPENING_BALANCE + AMOUNT)
    world.expect_silence(kiosk)
