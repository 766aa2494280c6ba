"""The host controller interface of a controller that supports only Bluetooth LE.

Section numbers refer to the Bluetooth Core Specification 5.3, Vol 4 Part E, unless another part is
named. The controller supports as few commands as the kernel accepts, so that the kernel sends few
commands. It has no connections, no pairing and no privacy, because a payment needs only adverts and
scans.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from .advert import CONNECTABLE, NONCONNECTABLE, SCANNABLE, Advert
from .filters import DuplicateFilter
from .medium import Beacon, Medium

COMMAND_PACKET, EVENT_PACKET = 0x01, 0x04

SUCCESS = b"\x00"
UNKNOWN_COMMAND = b"\x01"
UNKNOWN_ADVERTISING_IDENTIFIER = b"\x42"

TIME_UNIT = 0.000625
"""Seconds per unit of an advertising interval (7.8.5)."""

NO_TX_POWER = 127

# Event types of an extended report about a legacy advert (7.7.65.13).
EXTENDED_EVENT = {CONNECTABLE: 0x13, SCANNABLE: 0x12, NONCONNECTABLE: 0x10}
EXTENDED_RESPONSE = {CONNECTABLE: 0x1B, SCANNABLE: 0x1A}
# Event types of a legacy report (7.7.65.2).
LEGACY_EVENT = {CONNECTABLE: 0x00, SCANNABLE: 0x02, NONCONNECTABLE: 0x03}
LEGACY_RESPONSE = 0x04

ADVERTISING_SETS = 8
VERSION_4_2, VERSION_5_0 = 8, 9

# LMP features (Vol 2 Part C 3.3): BR/EDR not supported, LE supported, extended features.
LMP_FEATURES = bytes((0, 0, 0, 0, 0x60, 0, 0, 0x80))
LE_EXTENDED_ADVERTISING = 0x10  # second octet of the LE features (Vol 6 Part B 4.6)

# Supported commands (6.27): (octet, bits).
BASIC_COMMANDS = (
    *((0, 0x20), (2, 0x80), (5, 0xC0), (14, 0xE8), (15, 0x02), (24, 0x40)),
    *((25, 0xF7), (26, 0xFF), (27, 0x8F), (28, 0x08)),
)
EXTENDED_COMMANDS = ((36, 0xFE), (37, 0x63))


class AdvertisingSet:
    """An advert that the host has configured, on or off the air."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self.kind = CONNECTABLE
        self.has_random_address = False
        self.random_address: bytes | None = None
        self.data = b""
        self.scan_response = b""
        self.beacon = Beacon(controller.medium, controller.name, self.advert, 1.28)

    def advert(self) -> Advert:
        address = self.controller.address
        if self.has_random_address:
            address = self.random_address or self.controller.random_address
        return Advert(address, self.has_random_address, self.kind, self.data, self.scan_response)


class Scan:
    """The host's scan settings."""

    def __init__(self) -> None:
        self.is_on = False
        self.is_active = False
        self.only_accepted = False
        self.drops_duplicates = False


class Frozen:
    """The data of a hung firmware that are needed when it resumes."""

    def __init__(self, on_air: list[AdvertisingSet]) -> None:
        self.on_air = on_air
        self.commands: list[bytes] = []


class Controller:
    """Answers the host's commands, and reports received adverts to the host.

    `send` sends one packet, which begins with its type, to the host.
    """

    def __init__(
        self,
        name: str,
        address: bytes,
        medium: Medium,
        send: Callable[[bytes], None],
        is_extended: bool = True,
        unplug: Callable[[], None] = lambda: None,
        slots: int = ADVERTISING_SETS,
    ) -> None:
        self.name = name
        self.address = address
        self.medium = medium
        self.is_extended = is_extended
        self.slots = slots
        """The number of advertising sets that the controller reports to a host with Bluetooth 5."""
        self.duplicates = DuplicateFilter()
        self.reports = 0
        self.commands = 0
        self.active_scans = 0
        self.unknown_commands: set[int] = set()
        self.off_air_count = 0
        """The number of commands that took the controller's last advert off the air."""
        self.is_dead = False
        """True while the controller answers no command, like crashed firmware."""
        self.frozen: Frozen | None = None
        self._send = send
        self._unplug = unplug
        self.sets: dict[int, AdvertisingSet] = {}
        self.reset(b"")

    @property
    def on_air(self) -> list[AdvertisingSet]:
        return [each for each in self.sets.values() if each.beacon.is_on]

    def unplug(self) -> None:
        """Ends all work and unplugs the controller."""
        self.reset(b"")
        self._unplug()

    def fail(self) -> None:
        """Restarts, and reports a hardware error (7.7.16), like firmware after a crash."""
        self.thaw(remembers=False)
        self.reset(b"")
        self._event(0x10, b"\x00")

    def lose_scan(self) -> None:
        """Stops scanning without telling the host, like a faulty chip."""
        self.scan.is_on = False

    def freeze(self) -> None:
        """Stops receiving, sending and answering, like hung firmware."""
        self.frozen = Frozen(self.on_air)
        for each in self.frozen.on_air:
            each.beacon.stop()

    def thaw(self, remembers: bool) -> None:
        """Resumes. Carries out the commands that were sent meanwhile if `remembers`."""
        frozen, self.frozen = self.frozen, None
        if frozen is None:
            return
        for each in frozen.on_air:
            each.beacon.start()
        for packet in frozen.commands if remembers else ():
            self.handle(packet)

    # Methods that the host's side calls.

    def handle(self, packet: bytes) -> None:
        """Handles a packet from the host. Data packets are dropped, because there are no
        connections."""
        if packet[0] != COMMAND_PACKET or self.is_dead:
            return
        if self.frozen is not None:
            self.frozen.commands.append(packet)
            return
        opcode, length = struct.unpack_from("<HB", packet, 1)
        self.commands += 1
        was_on_air = bool(self.on_air)
        answer = COMMANDS.get(opcode)
        if answer is None:
            self.unknown_commands.add(opcode)
            returned = UNKNOWN_COMMAND
        else:
            returned = answer(self, packet[4 : 4 + length]) or SUCCESS
        self.off_air_count += was_on_air and not self.on_air
        # The event Command Complete (7.7.14) permits one more command.
        self._event(0x0E, struct.pack("<BH", 1, opcode) + returned)

    def _event(self, code: int, parameters: bytes) -> None:
        self._send(bytes((EVENT_PACKET, code, len(parameters))) + parameters)

    # Methods that the medium calls.

    def hear(self, advert: Advert, level: int, answered: bool) -> None:
        if not self.scan.is_on or self.frozen is not None:
            return
        if self.scan.only_accepted and (advert.address_type, advert.address) not in self.accepted:
            return
        if self.scan.drops_duplicates and not self.duplicates.passes(advert):
            return
        self._report(EXTENDED_EVENT, LEGACY_EVENT[advert.kind], advert, advert.data, level)
        # In an active scan, the kernel does not report a scannable advert before its response has
        # arrived, so an empty response must be sent too.
        if self.scan.is_active and advert.answers_scans and answered:
            response = advert.scan_response
            self._report(EXTENDED_RESPONSE, LEGACY_RESPONSE, advert, response, level)

    def _report(
        self, extended: dict[str, int], legacy: int, advert: Advert, data: bytes, level: int
    ) -> None:
        self.reports += 1
        if self.is_extended:
            # LE Extended Advertising Report (7.7.65.13): primary PHY LE 1M, no secondary PHY, no
            # advertising set, unknown power, no periodic advertising, not directed.
            head = struct.pack(
                "<BBHB6sBBBbbHB6sB",
                *(0x0D, 1, extended[advert.kind], advert.address_type, advert.address),
                *(1, 0, 0xFF, NO_TX_POWER, level, 0, 0, bytes(6), len(data)),
            )
            self._event(0x3E, head + data)
        else:
            # LE Advertising Report (7.7.65.2).
            head = struct.pack(
                "<BBBB6sB", 0x02, 1, legacy, advert.address_type, advert.address, len(data)
            )
            self._event(0x3E, head + data + struct.pack("b", level))

    # The commands. Each gets its parameters, and returns status and values, or None for success.

    def reset(self, _: bytes) -> None:
        self.stop_all(b"")
        self.scan = Scan()
        self.accepted: set[tuple[int, bytes]] = set()
        self.random_address = bytes(6)
        self.duplicates.forget()

    def read_version(self, _: bytes) -> bytes:
        version = VERSION_5_0 if self.is_extended else VERSION_4_2
        return struct.pack("<BBHBHH", 0, version, 0, version, 0xFFFF, 0)

    def read_commands(self, _: bytes) -> bytes:
        octets = bytearray(64)
        for octet, bits in BASIC_COMMANDS + (EXTENDED_COMMANDS if self.is_extended else ()):
            octets[octet] = bits
        return SUCCESS + octets

    def read_extended_features(self, parameters: bytes) -> bytes:
        page = parameters[0]
        return bytes((0, page, 1)) + (LMP_FEATURES if page == 0 else bytes(8))

    def read_address(self, _: bytes) -> bytes:
        return SUCCESS + self.address

    def read_le_features(self, _: bytes) -> bytes:
        return bytes((0, 0, LE_EXTENDED_ADVERTISING if self.is_extended else 0)) + bytes(6)

    def random_number(self, _: bytes) -> bytes:
        return SUCCESS + self.medium.random.randbytes(8)

    def set_random_address(self, parameters: bytes) -> None:
        self.random_address = parameters[:6]

    def add_to_accept_list(self, parameters: bytes) -> None:
        self.accepted.add((parameters[0], parameters[1:7]))

    def remove_from_accept_list(self, parameters: bytes) -> None:
        self.accepted.discard((parameters[0], parameters[1:7]))

    def clear_accept_list(self, _: bytes) -> None:
        self.accepted.clear()

    def set_scan_parameters(self, parameters: bytes) -> None:
        self.scan.is_active = parameters[0] == 1
        self.scan.only_accepted = bool(parameters[6] & 1)

    def set_extended_scan_parameters(self, parameters: bytes) -> None:
        self.scan.only_accepted = bool(parameters[1] & 1)
        self.scan.is_active = parameters[3] == 1

    def enable_scan(self, parameters: bytes) -> None:
        self.scan.is_on = bool(parameters[0])
        self.scan.drops_duplicates = bool(parameters[1])
        self.active_scans += self.scan.is_on and self.scan.is_active
        self.duplicates.forget()

    def advertising_set(self, handle: int) -> AdvertisingSet:
        if handle not in self.sets:
            self.sets[handle] = AdvertisingSet(self)
        return self.sets[handle]

    def set_parameters(self, parameters: bytes) -> None:
        interval, _, kind, own_address = struct.unpack_from("<HHBB", parameters)
        chosen = self.advertising_set(0)
        chosen.beacon.interval = interval * TIME_UNIT
        chosen.has_random_address = bool(own_address & 1)
        chosen.kind = {2: SCANNABLE, 3: NONCONNECTABLE}.get(kind, CONNECTABLE)

    def set_data(self, parameters: bytes) -> None:
        self.advertising_set(0).data = parameters[1 : 1 + parameters[0]]

    def set_scan_response(self, parameters: bytes) -> None:
        self.advertising_set(0).scan_response = parameters[1 : 1 + parameters[0]]

    def enable(self, parameters: bytes) -> None:
        beacon = self.advertising_set(0).beacon
        beacon.start() if parameters[0] else beacon.stop()

    def set_extended_random_address(self, parameters: bytes) -> None:
        self.advertising_set(parameters[0]).random_address = parameters[1:7]

    def set_extended_parameters(self, parameters: bytes) -> bytes:
        handle, properties = struct.unpack_from("<BH", parameters)
        chosen = self.advertising_set(handle)
        chosen.beacon.interval = int.from_bytes(parameters[3:6], "little") * TIME_UNIT
        chosen.has_random_address = bool(parameters[10] & 1)
        chosen.kind = {1: CONNECTABLE, 2: SCANNABLE, 3: CONNECTABLE}.get(
            properties & 3, NONCONNECTABLE
        )
        return SUCCESS + b"\x00"  # the selected power in dBm

    def set_extended_data(self, parameters: bytes) -> None:
        chosen = self.advertising_set(parameters[0])
        chosen.data = self._joined(chosen.data, parameters)

    def set_extended_scan_response(self, parameters: bytes) -> None:
        chosen = self.advertising_set(parameters[0])
        chosen.scan_response = self._joined(chosen.scan_response, parameters)

    @staticmethod
    def _joined(before: bytes, parameters: bytes) -> bytes:
        """Returns the data after a fragment has arrived (7.8.54). Operation 4 changes nothing."""
        operation, fragment = parameters[1], parameters[4 : 4 + parameters[3]]
        if operation == 4:
            return before
        continues = operation in (0, 2)
        return before + fragment if continues else fragment

    def enable_extended(self, parameters: bytes) -> None:
        handles = [parameters[2 + 4 * index] for index in range(parameters[1])]
        for handle in handles or list(self.sets):
            beacon = self.advertising_set(handle).beacon
            beacon.start() if parameters[0] else beacon.stop()

    def read_slot_count(self, _: bytes) -> bytes:
        return SUCCESS + bytes((self.slots,))

    def remove_set(self, parameters: bytes) -> bytes | None:
        removed = self.sets.pop(parameters[0], None)
        if removed is None:
            return UNKNOWN_ADVERTISING_IDENTIFIER
        removed.beacon.stop()
        return None

    def stop_all(self, _: bytes) -> None:
        for each in self.sets.values():
            each.beacon.stop()
        self.sets.clear()


def _always(returned: bytes) -> Callable[[Controller, bytes], bytes]:
    return lambda controller, parameters: returned


_done = _always(SUCCESS)

COMMANDS: dict[int, Callable[[Controller, bytes], bytes | None]] = {
    0x0C01: _done,  # Set Event Mask
    0x0C03: Controller.reset,
    0x0C13: _done,  # Write Local Name
    0x0C14: _always(SUCCESS + bytes(248)),  # Read Local Name
    0x0C24: _done,  # Write Class of Device
    0x0C63: _done,  # Set Event Mask Page 2
    0x0C6D: _done,  # Write LE Host Support
    0x1001: Controller.read_version,
    0x1002: Controller.read_commands,
    0x1003: _always(SUCCESS + LMP_FEATURES),
    0x1004: Controller.read_extended_features,
    0x1005: _always(struct.pack("<BHBHH", 0, 27, 0, 8, 0)),  # Read Buffer Size
    0x1009: Controller.read_address,
    0x2001: _done,  # LE Set Event Mask
    0x2002: _always(struct.pack("<BHB", 0, 27, 8)),  # LE Read Buffer Size
    0x2003: Controller.read_le_features,
    0x2005: Controller.set_random_address,
    0x2006: Controller.set_parameters,
    0x2007: _always(SUCCESS + b"\x00"),  # LE Read Advertising Channel TX Power
    0x2008: Controller.set_data,
    0x2009: Controller.set_scan_response,
    0x200A: Controller.enable,
    0x200B: Controller.set_scan_parameters,
    0x200C: Controller.enable_scan,
    0x200F: _always(SUCCESS + b"\x10"),  # LE Read Filter Accept List Size
    0x2010: Controller.clear_accept_list,
    0x2011: Controller.add_to_accept_list,
    0x2012: Controller.remove_from_accept_list,
    0x2018: Controller.random_number,
    0x201C: _always(SUCCESS + bytes.fromhex("ffff3fffff030000")),  # LE Read Supported States
    0x2035: Controller.set_extended_random_address,
    0x2036: Controller.set_extended_parameters,
    0x2037: Controller.set_extended_data,
    0x2038: Controller.set_extended_scan_response,
    0x2039: Controller.enable_extended,
    0x203A: _always(SUCCESS + struct.pack("<H", 251)),  # LE Read Maximum Advertising Data Length
    0x203B: Controller.read_slot_count,
    0x203C: Controller.remove_set,
    0x203D: Controller.stop_all,
    0x2041: Controller.set_extended_scan_parameters,
    0x2042: Controller.enable_scan,
}
