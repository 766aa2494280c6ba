"""Two tills are side by side. The payer must not choose between them."""

from __future__ import annotations

from ..deadline import eventually
from ..scenario import FAR, TAP, World, expect, expect_refused
from ..stack import OPENING_BALANCE

AMOUNT = 700


def run(world: World) -> None:
    kiosk, payer = world.kiosk, world.payer
    world.set_levels(TAP)
    world.start(kiosk, payer)
    first = kiosk.request(AMOUNT)
    neighbour = world.server.login("neighbour@example.com")
    second = neighbour.post("/sessions/create", {"amount_cents": AMOUNT})
    world.air.add(
        f"neighbour | 5B:70:01:02:03:A2 random | nonconnectable | 100 | {TAP - 1}"
        f' | 03:edfe 16:edfe+"{second["eid"]}" |'
    )

    def verdicts() -> list[str]:
        heard = [payer.presence(each["eid"]) for each in (first, second)]
        return [each["verdict"] if each else "silent" for each in heard]

    eventually("both verdicts to be ambiguous", lambda: verdicts() == ["ambiguous", "ambiguous"])
    picked = payer.ctl("pay", "--yes", "--max", "50.00", "--timeout", "3")
    if picked.status not in (1, 75):
        raise AssertionError(
            f"gotchu-ctl pay beside two tills ended with {picked.status}: {picked.error}"
        )
    expect_refused(
        "the payment of an ambiguous request",
        "AMBIGUOUS",
        lambda: payer.pay(AMOUNT, eid=first["eid"], proximity="tap"),
    )
    expect("the payer's balance after the refused payment", payer.balance(), OPENING_BALANCE)

    # The other till is far again, so the verdict on the first till is clear.
    world.air.level("neighbour", "*", FAR)
    eventually("the verdicts tap and far", lambda: verdicts() == ["tap", "far"])
    payment = payer.tap(AMOUNT, lambda: str(first["eid"]))
    eventually("the payment to be paid", lambda: payer.payment(payment["id"])["state"] == "paid")
    balance = neighbour.get("/wallet/me")["available_cents"]
    expect("the neighbour's balance after the payment", balance, OPENING_BALANCE)
