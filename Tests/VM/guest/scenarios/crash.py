"""The payer's daemon is killed during its payment. After the restart, there is exactly one
charge."""

from __future__ import annotations

import signal
from typing import Any

from ..deadline import eventually
from ..scenario import World, expect
from ..stack import OPENING_BALANCE

AMOUNT = 2_000
STAGES = ("locking", "sending")
"""The moments of the power cut, by the journalled stage of the payment."""


def run(world: World) -> None:
    kiosk, payer = world.kiosk, world.payer
    world.start(kiosk, payer)
    for count, stage in enumerate(STAGES, start=1):
        request = kiosk.request(AMOUNT)
        payment = kill_at(world, stage, request)
        payer.start()
        payer.wait_until_it_answers()
        paid = eventually(
            f"the payment that was {stage} to be finished after the crash",
            lambda: (found := payer.payment(payment["id"]))["state"] == "paid" and found,
        )
        expect("the amount of it", paid["amount_cents"], AMOUNT)
        expect("what the payer has left", payer.balance(), OPENING_BALANCE - count * AMOUNT)
        expect("what the kiosk has", kiosk.balance(), OPENING_BALANCE + count * AMOUNT)

    # A payment that has ended is not sent again by another start.
    payer.process.kill()
    payer.start()
    payer.wait_until_it_answers()
    expect("its state after one more crash", payer.payment(payment["id"])["state"], "paid")
    expect("the payer's charges", payer.balance(), OPENING_BALANCE - len(STAGES) * AMOUNT)


def kill_at(world: World, stage: str, request: dict[str, Any]) -> dict[str, Any]:
    """Pays, holds the server when the payment reaches a stage, and kills the daemon meanwhile.

    What the daemon sent by then waits in the server's socket, and is carried out when it goes on.
    """
    events = world.payer.events()
    payment = world.payer.pay(AMOUNT, eid=request["eid"])
    events.wait(
        f"the payment to be {stage}",
        lambda event: event["event"] == "payment" and event["payment"]["state"] == stage,
    )
    world.server.process.signal(signal.SIGSTOP)
    try:
        world.payer.process.kill()
    finally:
        world.server.process.signal(signal.SIGCONT)
    return payment
