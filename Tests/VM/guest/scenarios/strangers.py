"""Other devices' adverts during a payment are counted and not trusted, and do no harm."""

from __future__ import annotations

from pathlib import Path

from ..deadline import eventually
from ..scenario import TAP, World, expect, expect_refused
from ..stack import OPENING_BALANCE

AMOUNT = 300
TABLE = Path(__file__).parent.parent.parent / "strangers.txt"
BESIDE = """
tile-beside | C4:70:01:02:03:B0 random | connectable | 100 | -38 | 01:06 03:edfe 16:edfe0200a1b2c3d4e5f60718 |
word-beside | 5B:70:01:02:03:B1 random | connectable | 100 | -39 | 01:06 03:edfe 16:edfe+"not-an-eid" |
"""


def run(world: World) -> None:
    kiosk, payer = world.kiosk, world.payer
    world.set_levels(TAP)
    world.start(kiosk, payer)
    world.air.add(TABLE.read_text())
    world.air.add(BESIDE)
    request = kiosk.request(AMOUNT)

    def kinds_counted() -> bool:
        world.figures.update({f"ignored_{kind}": n for kind, n in payer.ignored().items()})
        return all(payer.ignored().get(kind, 0) > 0 for kind in ("tile", "length", "charset"))

    eventually("Tiles, wrong lengths and wrong characters to be counted", kinds_counted)
    eventually(
        "the payer to hear the kiosk among the strangers", lambda: payer.presence(request["eid"])
    )

    # No request has the EID of these adverts, so the server does not know it, even if it is near.
    heard = payer.client.get("/v1/sessions")["sessions"]
    forged = [each for each in heard if each["eid"] != request["eid"]]
    if not forged:
        raise AssertionError("the payer heard no other device with an EID of ten hex digits")
    for presence in forged:
        eid = presence["eid"]
        if eid in ("a1b2c3d4e7", "a1b2c3d4e8"):
            expect(f"the verdict on {eid}, whose level is unknown", presence["verdict"], "far")
        expect_refused(
            f"the resolution of {eid}",
            "NOT_FOUND",
            lambda eid=eid: payer.client.post("/v1/resolve", {"eid": eid}),
        )
        expect_refused(
            f"the payment of {eid}", "NOT_FOUND", lambda eid=eid: payer.pay(AMOUNT, eid=eid)
        )

    payment = payer.pay(AMOUNT, eid=request["eid"], confirm_payee="strangers-kiosk")
    eventually("the payment to be paid", lambda: payer.payment(payment["id"])["state"] == "paid")
    expect("the payer's balance after the payment", payer.balance(), OPENING_BALANCE - AMOUNT)
    eventually("the kiosk to report the payment", lambda: kiosk.request_state(request) == "paid")
