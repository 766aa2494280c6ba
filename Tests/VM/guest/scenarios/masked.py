"""Another program scans without a filter for devices, and the controller pauses for a moment.

bluetoothd then ignores our filter, so that the kernel sends no command after it. The daemon must
not conclude that the kernel is stuck: a power cycle would disturb the other program.
"""

from __future__ import annotations

from time import monotonic, sleep

from .. import kernel
from ..deadline import WaitTimeout, eventually, stays_true
from ..recovery import AMOUNT, allow_power_cycle, has_heard, problems, scans
from ..scenario import TAP, World, expect
from ..stack import OtherScanner

CYCLE = 10.24
"""Seconds after which the kernel ends a scan."""

PAUSE = 1.8
"""Seconds of the controller's pause. The kernel gives up a command after 2 s."""

PATIENCE = 2.7
"""Seconds without commands after which a kernel counts as stuck, if our filter has an effect."""


def run(world: World) -> None:
    allow_power_cycle(world)
    # Debian starts bluetoothd with this flag only.
    world.platform.restart_bluetoothd("--nodetach")
    other = OtherScanner(world.payer.adapter, world.logs)
    try:
        # With this duplicate filter, the payer tries to restart the scan for each sample of the
        # kiosk.
        world.air.do("duplicates", mode="addr")
        world.set_levels(TAP)
        world.start(world.kiosk, world.payer)
        eid = str(world.kiosk.request(AMOUNT)["eid"])
        for _ in range(2):
            next_scan(world)
        before = scans(world, world.payer)
        sleep(CYCLE / 2)
        expect("the number of scans while another program scans", scans(world, world.payer), before)
        begun = pause(world)
        expect_no_power_cycle(world, begun)
        eventually("the payer to hear the request", lambda: has_heard(world.payer, eid, begun))
    finally:
        other.stop()
        world.platform.restart_bluetoothd()


def next_scan(world: World) -> float:
    """Waits until the payer's controller begins its next scan, and returns the time."""
    before = scans(world, world.payer)
    eventually("the controller to begin its next scan", lambda: scans(world, world.payer) > before)
    return monotonic()


def pause(world: World) -> float:
    """Hangs the controller soon after a scan has begun, until the daemon has noticed it. Returns
    the time at which the hang was noticed.

    The daemon reads the counts every 3 s, so several hangs may be needed. The scenario `hiccups`
    tests longer pauses.
    """
    for _ in range(8):
        begun = next_scan(world)
        while monotonic() < begun + CYCLE - PAUSE - PATIENCE:
            world.air.do("freeze", controller=world.payer.controller)
            kernel.ask(world.payer.adapter)
            try:
                what = "the payer to report the controller's pause"
                eventually(what, lambda: is_unresponsive(world), PAUSE - 0.3)
                return monotonic()
            except WaitTimeout:
                continue
            finally:
                world.air.do("thaw", controller=world.payer.controller, remembers=True)
    raise AssertionError("the payer reported none of the controller's pauses")


def is_unresponsive(world: World) -> bool:
    return "bluetooth-adapter-not-answering" in problems(world.payer)


def expect_no_power_cycle(world: World, since: float) -> None:
    """Checks that no problem is reported and the power is not cycled, although the kernel sends no
    command for longer than is possible with an effective filter."""
    what = "the payer to report that its adapter answers again"
    eventually(what, lambda: not is_unresponsive(world))
    stays_true(
        "the payer's status without a radio problem or a power cycle",
        lambda: not problems(world.payer) and power_cycles(world) == 0,
        CYCLE + 2.0 - (monotonic() - since),
    )
    expect("the payer's count of power cycles", power_cycles(world), 0)


def power_cycles(world: World) -> float:
    return world.payer.metric('gotchu_scan_restarts_total{rung="power-cycle"}')
