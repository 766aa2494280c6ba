"""The doctor has one adapter advertise and another listen: with what bluetoothd heeds, and without."""

from __future__ import annotations

from ..deadline import eventually
from ..scenario import TAP, World, expect
from ..stack import is_powered

LINE = "Set Experimental = true in [General] of /etc/bluetooth/main.conf"

SLOW = 1000
"""Milliseconds: between what is asked for and 1.28 s, however the emulated CPU delays an advert."""


def run(world: World) -> None:
    world.air.level("c0", "*", TAP)
    finding = measured(world)
    expect("the verdict on an experimental bluetoothd", finding["verdict"], "good")
    world.figures["experimental_ms"] = fast = milliseconds(finding)
    if fast >= SLOW:
        raise AssertionError(f"100 ms were asked for: {finding}")

    restart(world, "--nodetach")
    try:
        finding = measured(world)
        expect("the verdict on a plain one", finding["verdict"], "doubtful")
        world.figures["plain_ms"] = slow = milliseconds(finding)
        if slow < SLOW:
            raise AssertionError(f"nothing asked for less than 1.28 s: {finding}")
        if not finding["fix"].startswith(LINE):
            raise AssertionError(f"the line that ends it is not named: {finding}")
    finally:
        restart(world)


def measured(world: World) -> dict[str, str]:
    """What the doctor says of hci0's interval; no daemon has to run for that."""
    answer = world.kiosk.ctl("doctor", "--json")
    found = [each for each in answer.object["findings"] if each["layer"] == "interval"]
    heard: dict[str, str] = next(each for each in found if each["text"].startswith("hci0"))
    if "hci1 hears it" not in heard["text"]:
        raise AssertionError(f"hci1 has not listened: {found}")
    expect("what is left on the air", world.air.state()["controllers"]["c0"]["on_air"], [])
    return heard


def milliseconds(finding: dict[str, str]) -> int:
    return int(finding["text"].split(" ms", 1)[0].rsplit(" ", 1)[1])


def restart(world: World, *flags: str) -> None:
    world.platform.bluetoothd.stop()
    world.platform.start_bluetoothd(*flags)
    eventually("the adapters", lambda: is_powered(0) and is_powered(1) and is_powered(2))
