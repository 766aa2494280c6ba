"""A scripted bluetoothd: one adapter, and adverts as PropertiesChanged and InterfacesAdded.

Runs as its own process. Reads lines of JSON such as {"rate": 300, "seconds": 60, "first_probe": 0},
and answers each with a line. The signals have RSSI and ServiceData, as bluetoothd's signals have
while a client wants duplicates. bleak wants duplicates.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.constants import BusType

from .adverts import KIOSKS, Advert, play

FEED = "0000feed-0000-1000-8000-00805f9b34fb"
ADAPTER = "/org/bluez/hci0"


def path(device: int) -> str:
    text = f"{device:012X}"
    return ADAPTER + "/dev_" + "_".join(text[index : index + 2] for index in range(0, 12, 2))


def address(device: int) -> str:
    return path(device).rpartition("dev_")[2].replace("_", ":")


def service_data(advert: Advert) -> Variant:
    return Variant("a{sv}", {FEED: Variant("ay", advert.eid.encode())})


def device_properties(advert: Advert) -> dict[str, Variant]:
    return {
        "Address": Variant("s", address(advert.device)),
        "AddressType": Variant("s", "random"),
        "Alias": Variant("s", address(advert.device).replace(":", "-")),
        "Paired": Variant("b", False),
        "Trusted": Variant("b", False),
        "Blocked": Variant("b", False),
        "LegacyPairing": Variant("b", False),
        "Connected": Variant("b", False),
        "ServicesResolved": Variant("b", False),
        "Adapter": Variant("o", ADAPTER),
        "UUIDs": Variant("as", [FEED]),
        "RSSI": Variant("n", advert.rssi),
        "ServiceData": service_data(advert),
        "AdvertisingFlags": Variant("ay", b"\x06"),
    }


class BlueZ:
    def __init__(self, bus: MessageBus) -> None:
        self.bus = bus
        self.scanners: set[str] = set()
        bus.add_message_handler(self.handle)

    def adapter(self) -> dict[str, Variant]:
        return {
            "Address": Variant("s", "02:AA:00:00:00:00"),
            "AddressType": Variant("s", "public"),
            "Name": Variant("s", "bench"),
            "Alias": Variant("s", "bench"),
            "Powered": Variant("b", True),
            "Discovering": Variant("b", bool(self.scanners)),
            "Roles": Variant("as", ["central", "peripheral"]),
            "UUIDs": Variant("as", []),
            "Modalias": Variant("s", "usb:v1D6Bp0246d0542"),
        }

    def handle(self, message: Message) -> Message | bool | None:
        if message.message_type is not MessageType.METHOD_CALL:
            return None
        match message.member:
            case "GetManagedObjects":
                objects: dict[str, Any] = {
                    "/org/bluez": {"org.bluez.AgentManager1": {}},
                    ADAPTER: {
                        "org.bluez.Adapter1": self.adapter(),
                        "org.bluez.LEAdvertisingManager1": {},
                    },
                }
                for device in range(KIOSKS):
                    first = Advert(device, f"{0xFFFF000000 + device:010x}", -80, False)
                    properties = device_properties(first)
                    del properties["RSSI"]
                    objects[path(device)] = {"org.bluez.Device1": properties}
                return Message.new_method_return(message, "a{oa{sa{sv}}}", [objects])
            case "StartDiscovery" | "StopDiscovery":
                change = self.scanners.add if message.member == "StartDiscovery" else self.scanners.discard
                change(message.sender)
                changed = {"Discovering": Variant("b", bool(self.scanners))}
                self.changed(ADAPTER, "org.bluez.Adapter1", changed)
                return Message.new_method_return(message)
            case "SetDiscoveryFilter" | "RegisterAdvertisement" | "UnregisterAdvertisement":
                return Message.new_method_return(message)
        return None

    def changed(self, path: str, interface: str, properties: dict[str, Variant]) -> None:
        self.bus.send(
            Message.new_signal(
                path,
                "org.freedesktop.DBus.Properties",
                "PropertiesChanged",
                "sa{sv}as",
                [interface, properties, []],
            )
        )

    def heard(self, advert: Advert) -> None:
        if not self.scanners:
            return
        if advert.is_new:
            self.bus.send(
                Message.new_signal(
                    "/",
                    "org.freedesktop.DBus.ObjectManager",
                    "InterfacesAdded",
                    "oa{sa{sv}}",
                    [path(advert.device), {"org.bluez.Device1": device_properties(advert)}],
                )
            )
        else:
            self.changed(
                path(advert.device),
                "org.bluez.Device1",
                {"RSSI": Variant("n", advert.rssi), "ServiceData": service_data(advert)},
            )


async def main() -> None:
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    bluez = BlueZ(bus)
    await bus.request_name("org.bluez")
    loop = asyncio.get_running_loop()
    print(json.dumps({"ready": True}), flush=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        order = json.loads(line)

        def send(advert: Advert) -> None:
            loop.call_soon_threadsafe(bluez.heard, advert)

        # The adverts are sent from a thread, so that calls can be answered meanwhile.
        result = await loop.run_in_executor(
            None, play, order["rate"], order["seconds"], order["first_probe"], send
        )
        print(json.dumps(result), flush=True)


asyncio.run(main())
