"""A payer locks the session and leaves. The kiosk shows the lock, the lock ends, and the payer is
not charged."""

from __future__ import annotations

from ..deadline import eventually
from ..scenario import World, expect, expect_refused
from ..stack import OPENING_BALANCE

AMOUNT = 400
TTL = 25
"""The request's time in seconds. It is shorter than a lock's time, so the lock ends with the
request."""


def run(world: World) -> None:
    kiosk = world.kiosk
    world.start(kiosk)
    walker = world.server.login("walks-away@example.com")
    other = world.server.login("comes-late@example.com")

    request = kiosk.request(AMOUNT, ttl_seconds=TTL)
    lock = {"sid": request["id"]}
    walker.post("/sessions/lock", lock)
    eventually("the kiosk to show the lock", lambda: kiosk.request_state(request) == "locked")
    expect_refused(
        "the second payer's lock", "SESSION_BUSY", lambda: other.post("/sessions/lock", lock)
    )
    walker.post(f"/sessions/{request['id']}/unlock", {})
    eventually(
        "the session to be released", lambda: kiosk.request_state(request) == "advertising"
    )
    if not world.is_on_air(request["eid"]):
        raise AssertionError("the released session is not on the air")

    other.post("/sessions/lock", lock)
    eventually(
        "the kiosk to show the second lock", lambda: kiosk.request_state(request) == "locked"
    )
    eventually("the request to expire", lambda: kiosk.request_state(request) == "expired")
    world.expect_silence(kiosk)
    expect("the kiosk's balance after the expired request", kiosk.balance(), OPENING_BALANCE)
    for name, payer in (("first", walker), ("second", other)):
        balance = payer.get("/wallet/me")["available_cents"]
        expect(f"the {name} payer's balance after the expired request", balance, OPENING_BALANCE)
