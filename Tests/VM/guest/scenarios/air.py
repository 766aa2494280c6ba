"""The basis of all scenarios: bluetoothd reports an advert at exactly the level that was set."""

from __future__ import annotations

from ..deadline import eventually
from ..process import Process
from ..scenario import FAR, TAP, World, expect
from ..stack import bus_property

# Without the discoverable flag (01:06), bluetoothd reports an advert only to a client that set a
# filter.
STRANGER = 'probe | 5B:70:01:02:03:FE random | connectable | 100 | -85 | 01:06 03:edfe 09:"0123456789" |'
DEVICE = "dev_5B_70_01_02_03_FE"


def run(world: World) -> None:
    world.air.add(STRANGER)
    scan = Process(
        "bluetoothctl",
        ["bluetoothctl", "--timeout", "60", "scan", "le"],
        world.logs / "bluetoothctl.log",
    )

    def level() -> int | None:
        """Returns the level that bluetoothd has for the device on any adapter."""
        for index in range(3):
            path = f"/org/bluez/hci{index}/{DEVICE}"
            found = bus_property(path, "org.bluez.Device1", "RSSI")
            if found is not None:
                return int(found)
        return None

    found = eventually("bluetoothd to report the advert", level)
    expect(f"the level of the advert at {FAR} dBm", found, FAR)
    world.air.level("probe", "*", TAP)
    eventually(f"bluetoothd to report the advert at {TAP} dBm", lambda: level() == TAP)
    scan.stop()
