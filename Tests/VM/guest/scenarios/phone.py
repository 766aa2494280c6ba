"""An iPhone requests a payment. It cannot send service data, so its EID is its local name, beside
the UUID of the service."""

from __future__ import annotations

from ..deadline import eventually
from ..scenario import TAP, World, expect
from ..stack import OPENING_BALANCE

AMOUNT = 1_250


def run(world: World) -> None:
    payer = world.payer
    world.start(payer)
    phone = world.server.login("phone-payee@example.com")
    session = phone.post("/sessions/create", {"amount_cents": AMOUNT})
    eid = session["eid"]
    world.air.add(
        f"phone | 4A:70:01:02:03:A1 random | connectable | 100 | {TAP}"
        f' | 01:1a 03:edfe 09:"{eid}" |'
    )

    heard = eventually(
        "the phone to be at tap distance",
        lambda: (found := payer.presence(eid)) and found["verdict"] == "tap" and found,
    )
    expect("the carrier of the EID", heard["carrier"], "local_name")
    resolved = payer.client.post("/v1/resolve", {"eid": eid})
    expect("the resolved amount", resolved["amount_cents"], AMOUNT)
    expect("the resolved payee", resolved["payee"], "phone-payee")

    payment = payer.tap(AMOUNT, lambda: eid, confirm_payee="phone-payee")
    eventually("the payment to be paid", lambda: payer.payment(payment["id"])["state"] == "paid")
    expect("the payer's balance after the payment", payer.balance(), OPENING_BALANCE - AMOUNT)
    expect(
        "the balance of the phone's owner after the payment",
        phone.get("/wallet/me")["available_cents"],
        OPENING_BALANCE + AMOUNT,
    )
