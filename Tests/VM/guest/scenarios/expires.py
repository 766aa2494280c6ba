"""Nobody pays in time. The request expires, and its advert leaves the air."""

from __future__ import annotations

from time import monotonic

from ..deadline import eventually
from ..scenario import FAR, World, expect, expect_refused

TTL = 6


def run(world: World) -> None:
    kiosk, payer = world.kiosk, world.payer
    world.set_levels(FAR)
    world.start(kiosk, payer)
    began = monotonic()
    request = kiosk.request(900, ttl_seconds=TTL)
    eventually("the payer to hear the request", lambda: payer.presence(request["eid"]))
    eventually("the request to expire", lambda: kiosk.request_state(request) == "expired")
    world.figures["expired_after_seconds"] = round(monotonic() - began, 2)
    if monotonic() - began < TTL:
        raise AssertionError(f"the request expired before its {TTL} s were over")
    world.expect_silence(kiosk)
    refused = expect_refused(
        "the payment of the expired request",
        "SESSION_EXPIRED",
        lambda: payer.pay(900, eid=request["eid"]),
    )
    expect("the status of the refused payment", refused.status, 410)
    eventually("the payer to forget the request", lambda: payer.presence(request["eid"]) is None)
