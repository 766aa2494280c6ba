"""The payer's daemon is killed while its payment is on the way: after the restart, exactly one charge."""

from __future__ import annotations

import signal

from ..deadline import eventually
from ..scenario import TAP, World, expect
from ..stack import OPENING_BALANCE

AMOUNT = 2_000


def run(world: World) -> None:
    kiosk, payer, server = world.kiosk, world.payer, world.server
    world.place(TAP)
    world.start(kiosk, payer)
    request = kiosk.request(AMOUNT)
    eventually("the payer to hear it", lambda: payer.presence(request["eid"]))

    # Locked and sent, or about to be: the server is stopped as soon as the session is locked.
    payment = payer.pay(AMOUNT, eid=request["eid"])
    server.process.signal(signal.SIGSTOP)
    try:
        payer.process.kill()
    finally:
        server.process.signal(signal.SIGCONT)

    payer.start()
    payer.wait_until_it_answers()
    paid = eventually(
        "the payment to be finished after the crash",
        lambda: (found := payer.payment(payment["id"]))["state"] == "paid" and found,
    )
    expect("the amount of it", paid["amount_cents"], AMOUNT)
    expect("what the payer has left", payer.balance(), OPENING_BALANCE - AMOUNT)
    expect("what the kiosk has", kiosk.balance(), OPENING_BALANCE + AMOUNT)

    # And once more from the books' end: a second restart charges nothing either.
    payer.process.kill()
    payer.start()
    payer.wait_until_it_answers()
    expect("its state after another crash", payer.payment(payment["id"])["state"], "paid")
    expect("what the payer has left then", payer.balance(), OPENING_BALANCE - AMOUNT)
