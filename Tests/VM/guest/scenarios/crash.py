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
            f"the payment that was {stage} at the crash to be paid",
            lambda: (found := payer.payment(payment["id"]))["state"] == "paid" and found,
        )
        after = f"after the payment that was {stage} at the crash"
        expect(f"the amount {after}", paid["amount_cents"], AMOUNT)
        expect(f"the payer's balance {after}", payer.balance(), OPENING_BALANCE - count * AMOUNT)
        expect(f"the kiosk's balance {after}", kiosk.balance(), OPENING_BALANCE + count * AMOUNT)

    # Another start does not send a payment that has ended.
    payer.process.kill()
    payer.start()
    payer.wait_until_it_answers()
    state = payer.payment(payment["id"])["state"]
    expect("the last payment's state after one more crash", state, "paid")
    balance = OPENING_BALANCE - len(STAGES) * AMOUNT
    expect("the payer's balance after one more crash", payer.balance(), balance)


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
