"""A request stays open through every fault of the bus, bluetoothd and the adapter."""

from __future__ import annotations

import signal
from time import monotonic, sleep

from .. import kernel
from ..deadline import eventually
from ..recovery import Till, begin_fresh_scans, has_heard
from ..scenario import TAP, World
from ..stack import is_powered

HANG = 12.0
"""Seconds for which bluetoothd hangs. Calls to it time out in this time."""


def run(world: World) -> None:
    world.set_levels(TAP)
    world.start(world.kiosk, world.payer)
    till = Till(world, world.kiosk)
    for cause in (ended_by_another, lost, failed, powered_off, blocked, restarted, killed, hung, bus):
        print(f"        {cause.__name__}", flush=True)
        ended = cause(world, till)
        till.measure(
            cause.__name__,
            ended,
            heard=lambda ended=ended: has_heard(world.payer, till.eid, ended),
            tap=lambda ended=ended: has_heard(world.payer, till.eid, ended, "tap"),
        )
    till.withdraw()


def ended_by_another(world: World, till: Till) -> float:
    """Another program tells the kernel to stop every scan."""
    kernel.stop_discovery(0)
    kernel.stop_discovery(1)
    return monotonic()


def lost(world: World, till: Till) -> float:
    """The payer's controller stops scanning without notice."""
    world.air.do("lose_scan", controller="c1")
    return monotonic()


def failed(world: World, till: Till) -> float:
    """The firmware of both controllers crashes, and the kernel switches each off and on again."""
    world.air.do("fail", controller="*")
    return monotonic()


def powered_off(world: World, till: Till) -> float:
    kernel.set_powered(0, False)
    till.expect_problem("bluetooth-adapter-off")
    kernel.set_powered(0, True)
    eventually("the adapter to be powered", lambda: is_powered(0))
    return monotonic()


def blocked(world: World, till: Till) -> float:
    """All adapters are blocked and unblocked, as by the key for flight mode."""
    kernel.block_radios(True)
    till.expect_problem("bluetooth-adapter-off")
    kernel.block_radios(False)
    eventually("the adapters to be powered", lambda: is_powered(0) and is_powered(1))
    return monotonic()


def restarted(world: World, till: Till) -> float:
    world.platform.bluetoothd.stop()
    till.expect_problem("bluetoothd-not-running")
    return start_bluetoothd(world)


def killed(world: World, till: Till) -> float:
    begin_fresh_scans(world, world.kiosk, world.payer)
    world.platform.bluetoothd.kill()
    till.expect_problem("bluetoothd-not-running")
    return start_bluetoothd(world)


def hung(world: World, till: Till) -> float:
    """bluetoothd is suspended for some seconds, and then continues."""
    world.platform.bluetoothd.signal(signal.SIGSTOP)
    try:
        sleep(HANG)
    finally:
        world.platform.bluetoothd.signal(signal.SIGCONT)
    return monotonic()


def bus(world: World, till: Till) -> float:
    """The bus and bluetoothd are restarted, as by systemd."""
    begin_fresh_scans(world, world.kiosk, world.payer)
    world.platform.restart_bus()
    return start_bluetoothd(world)


def start_bluetoothd(world: World) -> float:
    world.platform.start_bluetoothd()
    eventually("the adapters to be powered", lambda: is_powered(0) and is_powered(1))
    return monotonic()
