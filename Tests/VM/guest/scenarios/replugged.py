"""A till's only adapter is unplugged and plugged in again, first under its old number, then under
another number."""

from __future__ import annotations

from time import monotonic

from ..deadline import eventually
from ..recovery import Till
from ..scenario import World
from ..stack import CONTROLLERS, bus_property, is_powered


def run(world: World) -> None:
    kiosk = world.kiosk
    kiosk.radio = "bluez"
    for index in range(1, CONTROLLERS):
        unplug(world, index, index)
    try:
        world.start(kiosk)
        till = Till(world, kiosk)

        unplug(world, 0, 0)
        till.expect_problem("bluetooth-adapter-missing")
        plug(world, 0, 0)
        till.measure("replugged", monotonic())

        unplug(world, 0, 0)
        till.expect_problem("bluetooth-adapter-missing")
        # A controller that answers nothing gets the old number, and does not become an adapter.
        world.air.do("plug", controller="c99", is_dead=True)
        plug(world, 0, 1)
        till.measure("renumbered", monotonic())
        till.withdraw()
    finally:
        restore(world)


def restore(world: World) -> None:
    """Restores all adapters with their numbers, for the scenarios that follow."""
    world.air.do("unplug", controller="*")
    for index in range(CONTROLLERS):
        eventually(f"hci{index} to be gone", lambda index=index: not exists(index))
    for index in range(CONTROLLERS):
        plug(world, index, index)


def plug(world: World, controller: int, number: int, **options: int) -> None:
    world.air.do("plug", controller=f"c{controller}", **options)
    eventually(f"hci{number} to be powered", lambda: is_powered(number))


def unplug(world: World, controller: int, number: int) -> None:
    world.air.do("unplug", controller=f"c{controller}")
    eventually(f"hci{number} to be gone", lambda: not exists(number))


def exists(number: int) -> bool:
    return bus_property(f"/org/bluez/hci{number}", "org.bluez.Adapter1", "Address") is not None
