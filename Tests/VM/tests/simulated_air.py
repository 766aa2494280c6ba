"""A simulated air whose clock is moved by the test."""

from __future__ import annotations

import struct
from random import Random

from air.advert import Advert, Stranger, data, CONNECTABLE, RANDOM, address
from air.controller import Controller
from air.medium import Medium
from air.scheduler import Scheduler

SEED = 7


class SimulatedAir:
    """A medium, its controllers, and the packets that each controller sent to its host."""

    def __init__(self, controllers: int = 2, is_extended: bool = True) -> None:
        self.now = 0.0
        self.scheduler = Scheduler(lambda: self.now)
        self.medium = Medium(self.scheduler, Random(SEED))
        self.packets: list[list[bytes]] = [[] for _ in range(controllers)]
        self.controllers = [
            Controller(
                f"c{index}",
                address(f"02:AA:00:00:00:{index:02X}"),
                self.medium,
                self.packets[index].append,
                is_extended,
            )
            for index in range(controllers)
        ]
        self.medium.receivers.extend(self.controllers)

    def advance(self, seconds: float) -> None:
        """Moves the clock by some seconds, and runs each action when it is due."""
        end = self.now + seconds
        while (due := self.scheduler.next_due()) is not None and due <= end:
            self.now = max(self.now, due)
            self.scheduler.run_due()
        self.now = end

    def command(self, controller: int, opcode: int, parameters: bytes = b"") -> bytes:
        """Sends a command as the host, and returns the answer, which begins with the status."""
        self.controllers[controller].handle(
            struct.pack("<BHB", 1, opcode, len(parameters)) + parameters
        )
        complete = self.packets[controller].pop()
        assert complete[:2] == b"\x04\x0e" and complete[2] == len(complete) - 3
        assert struct.unpack_from("<H", complete, 4)[0] == opcode
        return complete[6:]

    def scan(self, controller: int, filters: bool = False, active: bool = True) -> None:
        parameters = struct.pack("<BBBBHH", 1, 0, 1, active, 0x12, 0x12)
        self.command(controller, 0x2041, parameters)
        self.command(controller, 0x2042, bytes((1, filters, 0, 0, 0, 0)))

    def advertise(self, controller: int, payload: bytes, interval: int = 0xA0) -> None:
        """Puts an advert on the air with the commands of Bluetooth 5."""
        parameters = bytearray(25)
        parameters[1:3] = b"\x10\x00"  # legacy, not connectable
        parameters[3:6] = parameters[6:9] = interval.to_bytes(3, "little")
        self.command(controller, 0x2036, bytes(parameters))
        self.command(controller, 0x2037, bytes((0, 3, 0, len(payload))) + payload)
        self.command(controller, 0x2039, bytes((1, 1, 0, 0, 0, 0)))

    def stranger(self, name: str = "stranger", level: int = -60, text: str = "03:edfe") -> None:
        advert = Advert(address("5B:70:01:02:03:01"), RANDOM, CONNECTABLE, data(text))
        self.medium.add(Stranger(name, advert, 0.1, level))

    def levels(self, controller: int) -> list[int]:
        """Returns the levels of all adverts that this controller reported, without scan
        responses."""
        return [
            struct.unpack_from("b", packet, 18)[0]
            for packet in self.packets[controller]
            if packet[1] == 0x3E and packet[3] == 0x0D and not packet[5] & 0x08
        ]
