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

    eventually("both to be ambiguous", lambda: verdicts() == ["ambiguous", "ambiguous"])
    picked = payer.ctl("pay", "--yes", "--max", "50.00", "--timeout", "3")
    if picked.status not in (1, 75):
        raise AssertionError(f"paying one of two ended with {picked.status}: {picked.error}")
    expect_refused(
        "paying the first by being near",
        "AMBIGUOUS",
        lambda: payer.pay(AMOUNT, eid=first["eid"], proximity="tap"),
    )
    expect("the payer's balance", payer.balance(), OPENING_BALANCE)

    # The other till is far again, so the verdict on the first till is clear.
    world.air.level("neighbour", "*", FAR)
    eventually("the kiosk to be meant", lambda: verdicts() == ["tap", "far"])
    payment = payer.tap(AMOUNT, lambda: str(first["eid"]))
    eventually("the payment", lambda: payer.payment(payment["id"])["state"] == "paid")
    expect("what the neighbour has", neighbour.get("/wallet/me")["available_cents"], OPENING_BALANCE)
