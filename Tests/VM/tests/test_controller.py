"""Tests of the controller's answers and reports to its host."""

import struct
from unittest import TestCase

from air.filters import DuplicateFilter

from .simulated_air import SimulatedAir

FEED = bytes.fromhex("0303edfe")

ANNOUNCED = {
    (0, 5): 0x0406, (2, 7): 0x041D, (5, 6): 0x0C01, (5, 7): 0x0C03,
    (14, 3): 0x1001, (14, 5): 0x1003, (14, 6): 0x1004, (14, 7): 0x1005, (15, 1): 0x1009,
    (24, 6): 0x0C6D, (25, 0): 0x2001, (25, 1): 0x2002, (25, 2): 0x2003, (25, 4): 0x2005,
    (25, 5): 0x2006, (25, 6): 0x2007, (25, 7): 0x2008, (26, 0): 0x2009, (26, 1): 0x200A,
    (26, 2): 0x200B, (26, 3): 0x200C, (26, 4): 0x200D, (26, 5): 0x200E, (26, 6): 0x200F,
    (26, 7): 0x2010, (27, 0): 0x2011, (27, 1): 0x2012, (27, 2): 0x2013, (27, 3): 0x2014,
    (27, 7): 0x2018, (28, 3): 0x201C, (36, 1): 0x2035, (36, 2): 0x2036, (36, 3): 0x2037,
    (36, 4): 0x2038, (36, 5): 0x2039, (36, 6): 0x203A, (36, 7): 0x203B, (37, 0): 0x203C,
    (37, 1): 0x203D, (37, 5): 0x2041, (37, 6): 0x2042,
}  # fmt: skip
"""The announced commands by octet and bit, as in the specification's table 6.27."""

CONNECTION_COMMANDS = {0x0406, 0x041D, 0x200D, 0x200E, 0x2013, 0x2014}
"""The announced commands that only connections need, which are not emulated."""


class CommandTest(TestCase):
    def test_an_unknown_command_is_answered_and_remembered(self) -> None:
        air = SimulatedAir()
        self.assertEqual(air.command(0, 0x2FFF), b"\x01")
        self.assertEqual(air.controllers[0].unknown_commands, {0x2FFF})

    def test_all_announced_commands_except_those_of_connections_are_known(self) -> None:
        air = SimulatedAir()
        supported = air.command(0, 0x1002)[1:]
        found = {(n // 8, n % 8) for n in range(8 * 64) if supported[n // 8] & 1 << n % 8}
        self.assertEqual(found, set(ANNOUNCED))
        for opcode in ANNOUNCED.values():
            air.command(0, opcode, bytes(25))
        self.assertEqual(air.controllers[0].unknown_commands, CONNECTION_COMMANDS)

    def test_a_4_2_controller_announces_no_extended_advertising(self) -> None:
        air = SimulatedAir(is_extended=False)
        self.assertEqual(air.command(0, 0x1002)[1 + 36], 0)
        self.assertEqual(air.command(0, 0x2003)[2], 0)
        self.assertEqual(air.command(0, 0x1001)[1], 8)

    def test_reset_leaves_nothing_on_the_air(self) -> None:
        air = SimulatedAir()
        air.advertise(0, FEED)
        air.command(0, 0x0C03)
        air.advance(1)
        self.assertNotIn("c0", air.medium.sent)
        self.assertEqual(air.controllers[0].on_air, [])

    def test_a_crash_leaves_nothing_and_is_told(self) -> None:
        air = SimulatedAir()
        air.advertise(0, FEED)
        air.scan(0)
        air.packets[0].clear()
        air.controllers[0].fail()
        self.assertEqual(air.packets[0], [bytes((0x04, 0x10, 1, 0))])
        self.assertEqual(air.controllers[0].on_air, [])
        self.assertFalse(air.controllers[0].scan.is_on)

    def test_frozen_it_does_nothing_and_then_what_it_did(self) -> None:
        for remembers in (False, True):
            with self.subTest(remembers=remembers):
                air = SimulatedAir()
                air.advertise(0, FEED)
                air.scan(0)
                air.stranger()
                air.advance(1)
                air.controllers[0].freeze()
                air.packets[0].clear()
                sent = air.medium.sent["c0"]
                air.advance(1)
                air.controllers[0].handle(struct.pack("<BHB", 1, 0x0C03, 0))
                self.assertEqual(air.packets[0], [])
                self.assertEqual(air.medium.sent["c0"], sent)
                air.controllers[0].thaw(remembers)
                air.advance(1)
                # The reset that was sent meanwhile is carried out if `remembers`, and otherwise
                # lost.
                self.assertEqual(bool(air.controllers[0].on_air), not remembers)
                self.assertEqual(len(air.packets[0]) > 1, not remembers)

    def test_a_set_that_is_not_there_cannot_be_removed(self) -> None:
        self.assertEqual(SimulatedAir().command(0, 0x203C, b"\x05"), b"\x42")


class AdvertisingTest(TestCase):
    def test_an_advert_is_repeated_at_its_interval(self) -> None:
        air = SimulatedAir()
        air.advertise(0, FEED, interval=0xA0)
        air.advance(10.5)
        # The interval is 100 ms, and the jitter at most 10 ms.
        self.assertIn(air.medium.sent["c0"], range(94, 106))

    def test_data_in_fragments_is_joined(self) -> None:
        air = SimulatedAir()
        air.advertise(0, b"")
        for operation, fragment in ((1, b"\x03\x03"), (0, b"\xed"), (2, b"\xfe")):
            parameters = bytes((0, operation, 0, len(fragment))) + fragment
            air.command(0, 0x2037, parameters)
        self.assertEqual(air.controllers[0].on_air[0].data, FEED)

    def test_the_random_address_of_a_set_is_the_one_on_the_air(self) -> None:
        air = SimulatedAir()
        air.advertise(0, FEED)
        parameters = bytearray(25)
        parameters[1], parameters[10] = 0x10, 1
        air.command(0, 0x2036, bytes(parameters))
        air.command(0, 0x2035, bytes((0, 1, 2, 3, 4, 5, 6)))
        self.assertEqual(air.controllers[0].on_air[0].advert().address, bytes((1, 2, 3, 4, 5, 6)))

    def test_a_4_2_host_advertises_with_the_older_commands(self) -> None:
        air = SimulatedAir(is_extended=False)
        air.command(0, 0x2006, struct.pack("<HHBB", 0xA0, 0xA0, 3, 0) + bytes(9))
        air.command(0, 0x2008, bytes((len(FEED),)) + FEED + bytes(31 - len(FEED)))
        air.command(0, 0x200A, b"\x01")
        air.command(1, 0x200B, struct.pack("<BHHBB", 1, 0x12, 0x12, 0, 0))
        air.command(1, 0x200C, b"\x01\x00")
        air.medium.set_level("c0", "c1", -71)
        air.advance(0.2)
        report = air.packets[1][0]
        self.assertEqual(report[3:6], b"\x02\x01\x03")
        self.assertEqual(report[14:-1], FEED)
        self.assertEqual(struct.unpack("b", report[-1:])[0], -71)
        air.command(0, 0x200A, b"\x00")
        self.assertEqual(air.controllers[0].on_air, [])


class ScanTest(TestCase):
    def test_only_a_scanning_controller_hears(self) -> None:
        air = SimulatedAir()
        air.stranger()
        air.advance(1)
        self.assertEqual(air.packets[0], [])

    def test_an_active_scan_gets_the_response_even_an_empty_one(self) -> None:
        air = SimulatedAir()
        air.scan(0)
        air.stranger()
        air.advance(0.05)
        event_types = [packet[5] for packet in air.packets[0]]
        self.assertEqual(event_types, [0x13, 0x1B])

    def test_a_passive_scan_gets_none(self) -> None:
        air = SimulatedAir()
        air.scan(0, active=False)
        air.stranger()
        air.advance(0.05)
        self.assertEqual([packet[5] for packet in air.packets[0]], [0x13])

    def test_the_accept_list_is_obeyed(self) -> None:
        air = SimulatedAir()
        air.stranger()
        air.scan(0)
        air.command(0, 0x2041, struct.pack("<BBBBHH", 1, 1, 1, 0, 0x12, 0x12))
        air.advance(1)
        self.assertEqual(air.packets[0], [])
        air.command(0, 0x2011, bytes.fromhex("01 01 03 02 01 70 5b"))
        air.advance(1)
        self.assertNotEqual(air.packets[0], [])


class DuplicateFilterTest(TestCase):
    def reports(self, mode: str) -> int:
        """Returns the number of reports in one second of a filtering scan. The data of the adverts
        changes after half a second."""
        air = SimulatedAir()
        air.controllers[0].duplicates = DuplicateFilter(mode)
        air.scan(0, filters=True, active=False)
        air.stranger(text="03:edfe")
        air.advance(0.5)
        air.stranger(text="03:edff")
        air.advance(0.5)
        return len(air.levels(0))

    def test_each_mode_drops_what_it_says(self) -> None:
        self.assertEqual(self.reports("addr"), 1)
        self.assertEqual(self.reports("data"), 2)
        self.assertGreater(self.reports("none"), 7)

    def test_a_new_scan_forgets(self) -> None:
        air = SimulatedAir()
        air.stranger()
        for _ in range(3):
            air.scan(0, filters=True, active=False)
            air.advance(1)
        self.assertEqual(len(air.levels(0)), 3)

    def test_a_mode_that_does_not_exist_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            DuplicateFilter("some")
