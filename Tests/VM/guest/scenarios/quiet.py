"""A till that requests a payment does not scan, and is paid. A payer scans only for a payment
without an EID."""

from __future__ import annotations

from time import sleep

from ..deadline import eventually
from ..scenario import TAP, World, expect
from ..stack import OPENING_BALANCE, Daemon, bus_property

AMOUNT = 1_280


def run(world: World) -> None:
    kiosk, payer = world.kiosk, world.payer
    kiosk.listen = payer.listen = "auto"
    world.set_levels(TAP)
    world.start(kiosk, payer)
    request = kiosk.request(AMOUNT)
    expect("the request's EID is on the air", world.is_on_air(request["eid"]), True)
    # The payer advertises too, so that a scan of the till would hear something.
    other = payer.request(100)
    sleep(5.0)
    for daemon in (kiosk, payer):
        expect_no_scan(world, daemon)

    paid = payer.ctl("pay", request["eid"], "--yes", "--max", "50.00", "--json")
    expect(f"the exit status of pay by EID ({paid.error})", paid.status, 0)
    eventually("the kiosk to report the payment", lambda: kiosk.request_state(request) == "paid")

    request = kiosk.request(AMOUNT)
    paid = payer.ctl("pay", "--yes", "--max", "50.00", "--timeout", "30", "--json")
    expect(f"the exit status of pay ({paid.error})", paid.status, 0)
    expect("the payer scans for a payment without an EID", is_discovering(payer), True)
    eventually("the kiosk to report the payment", lambda: kiosk.request_state(request) == "paid")
    expect("the payer's balance after two payments", payer.balance(), OPENING_BALANCE - 2 * AMOUNT)

    expect_no_scan(world, kiosk)
    eventually("the payer to stop its scan", lambda: not is_discovering(payer), 60.0)
    expect_no_scan(world, payer)
    payer.client.call("DELETE", f"/v1/requests/{other['id']}")


def is_discovering(daemon: Daemon) -> bool:
    path = f"/org/bluez/hci{daemon.adapter}"
    return bus_property(path, "org.bluez.Adapter1", "Discovering") is True


def expect_no_scan(world: World, daemon: Daemon) -> None:
    """Checks that bluetoothd, the controller and the daemon report no scan."""
    expect(f"Discovering of the {daemon.name}'s adapter", is_discovering(daemon), False)
    # On a busy machine, the scan of an earlier scenario may end late.
    eventually(
        f"the controller of the {daemon.name} to end its scan",
        lambda: not world.air.state()["controllers"][daemon.controller]["is_scanning"],
        20.0,
    )
    status = daemon.client.get("/v1/status")
    expect(f"the {daemon.name} is ready", status["is_ready"], True)
    expect(f"the {daemon.name} scans", status["radio"]["is_scanning"], False)
    expect(f"the {daemon.name} wants a scan", status["radio"]["listening"]["is_wanted"], False)
