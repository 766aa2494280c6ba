"""The payer listens over the management socket, and the request is paid. The kiosk, which has no
right to that socket, listens over D-Bus.

The time from tap distance to the verdict is measured as in the scenario `latency`. After a kill of
bluetoothd, the daemon tells the kernel to end the scan that is left.
"""

from __future__ import annotations

from time import monotonic

from ..deadline import eventually
from ..recovery import begin_fresh_scans
from ..scenario import FAR, TAP, World, expect
from ..stack import OPENING_BALANCE, is_powered
from .latency import measure

AMOUNT = 900

ROUNDS = 3
"""The rounds with each filter. They are few, because `latency` measures all that does not depend on
the transport."""


def run(world: World) -> None:
    kiosk, payer = world.kiosk, world.payer
    payer.radio = f"management:hci{payer.adapter}"
    kiosk.radio = f"auto:hci{kiosk.adapter}"
    kiosk.prefix = ["setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin"]
    world.set_levels(FAR)
    world.start(kiosk, payer)
    radio = payer.client.get("/v1/status")["radio"]
    expect("the payer's transport", radio["transport"], "management")
    radio = kiosk.client.get("/v1/status")["radio"]
    expect("the kiosk's transport", radio["transport"], "dbus")
    note = "no CAP_NET_ADMIN: listening over D-Bus"
    expect("the note on the kiosk's transport", radio["transport_note"], note)

    request = kiosk.request(AMOUNT)
    eid = request["eid"]
    heard = eventually("the payer to hear the kiosk", lambda: payer.presence(eid))
    expect("the payer's verdict on the far kiosk", heard["verdict"], "far")
    expect("the level of the far kiosk", heard["rssi_dbm"], FAR)
    expect("the carrier of the EID", heard["carrier"], "service_data")
    events = payer.events()
    moved, mark = monotonic(), events.now()
    world.set_levels(TAP)
    at, _ = events.wait(
        "the payer's verdict tap on the kiosk",
        lambda event: event["event"] == "session"
        and (event["session"]["eid"], event["session"]["verdict"]) == (eid, "tap"),
        since=mark,
    )
    world.figures["tap_seconds"] = round(at - moved, 2)
    payment = payer.tap(AMOUNT, lambda: str(eid))
    eventually("the payment to be paid", lambda: payer.payment(payment["id"])["state"] == "paid")
    eventually("the kiosk to report the payment", lambda: kiosk.request_state(request) == "paid")
    expect("the payer's balance after the payment", payer.balance(), OPENING_BALANCE - AMOUNT)
    world.expect_silence(kiosk)

    measure(world, events, ROUNDS)
    scans_again(world)


def scans_again(world: World) -> None:
    """Kills bluetoothd during a scan, which continues in the kernel without an owner. Measures the
    time until the daemon scans again."""
    payer = world.payer
    begin_fresh_scans(world, payer)
    world.platform.bluetoothd.kill()
    world.platform.start_bluetoothd()
    eventually("the adapters to be powered", lambda: is_powered(0) and is_powered(1))
    ended = monotonic()
    eventually(
        "the payer to scan again", lambda: payer.client.get("/v1/status")["radio"]["is_scanning"]
    )
    world.figures["killed_scanning_seconds"] = round(monotonic() - ended, 2)
    # This is 0 if the kernel's scan had ended before bluetoothd was ready.
    told = "the kernel was told to end the scan" in payer.process.log.read_text()
    world.figures["killed_told_the_kernel"] = int(told)
