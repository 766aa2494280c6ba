"""The payer's daemon is killed during a payment. After its restart, the payer is charged exactly
once."""

from __future__ import annotations

import signal
from typing import Any

from ..deadline import eventually
from ..scenario import World, expect
from ..stack import OPENING_BALANCE

AMOUNT = 2_000
STAGES = ("locking", "sending")
"""The journalled stages of a payment at which the daemon is killed."""


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

    # Another start does not send a payment that has ended.
    payer.process.kill()
    payer.start()
    payer.wait_until_it_answers()
    expect("its state after one more crash", payer.payment(payment["id"])["state"], "paid")
    expect("the payer's charges", payer.balance(), OPENING_BALANCE - len(STAGES) * AMOUNT)


def kill_at(world: World, stage: str, request: dict[str, Any]) -> dict[str, Any]:
    """Starts a payment, and kills the daemon when the payment reaches a stage.

    The server is stopped while the daemon is killed. It carries out the daemon's last call
    afterwards.
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
