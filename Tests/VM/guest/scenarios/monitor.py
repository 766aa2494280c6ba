"""bluetoothd is killed, and the kernel goes on with its scan: an advertisement monitor hears meanwhile."""

from __future__ import annotations

from time import monotonic

from ..deadline import eventually
from ..recovery import begin_fresh_scans, has_heard
from ..scenario import TAP, World, expect
from ..stack import OPENING_BALANCE, is_powered

AMOUNT = 800
ATTEMPTS = 4
"""On a busy machine bluetoothd may need longer to come up than the kernel's scan lasts."""


def run(world: World) -> None:
    kiosk, payer = world.kiosk, world.payer
    world.place(TAP)
    world.start(kiosk, payer)
    request = kiosk.request(AMOUNT)
    eid = request["eid"]
    eventually("the payer to hear it", lambda: payer.presence(eid))
    expect("whether a monitor is there", radio(world)["has_monitor"], True)

    for attempt in range(1, ATTEMPTS + 1):
        if is_heard_alone(world, eid):
            break
        eventually("discovery", lambda: radio(world)["is_scanning"])
    else:
        raise AssertionError(f"in {ATTEMPTS} attempts the kernel was never busy")
    world.figures["attempts"] = attempt

    payment = payer.tap(AMOUNT, lambda: str(eid))
    eventually("the payment", lambda: payer.payment(payment["id"])["state"] == "paid")
    expect("what the payer has left", payer.balance(), OPENING_BALANCE - AMOUNT)
    eventually("discovery", lambda: radio(world)["transport"] == "dbus")
    expect("what there is to say then", radio(world).get("transport_note"), None)


def is_heard_alone(world: World, eid: str) -> bool:
    """Kills bluetoothd; whether the kiosk was heard while only a monitor was listened to."""
    begin_fresh_scans(world, world.payer)
    world.platform.bluetoothd.kill()
    world.platform.start_bluetoothd()
    eventually("the adapters", lambda: is_powered(0) and is_powered(1))
    ended = monotonic()
    transport = eventually(
        "a transport", lambda: radio(world)["is_scanning"] and radio(world)["transport"]
    )
    if transport != "monitor":
        return False
    note = "the kernel is busy with another scan: listening through an advertisement monitor"
    before = radio(world)
    eventually("it to be heard", lambda: has_heard(world.payer, eid, ended))
    heard = monotonic()
    if before["transport"] != "monitor" or radio(world)["transport"] != "monitor":
        return False
    world.figures["heard_seconds"] = round(heard - ended, 2)
    expect("what there is to say", before["transport_note"], note)
    return True


def radio(world: World) -> dict[str, object]:
    found: dict[str, object] = world.payer.client.get("/v1/status")["radio"]
    return found
