"""Tests of the controller's answers and reports to its host."""

import struct
from unittest import TestCase

from air.filters import DuplicateFilter

from .room import Room

FEED = bytes.fromhex("0303edfe")


class CommandTest(TestCase):
    def test_an_unknown_command_is_answered_and_remembered(self) -> None:
        room = Room()
        self.assertEqual(room.command(0, 0x2FFF), b"\x01")
        self.assertEqual(room.controllers[0].unknown_commands, {0x2FFF})

    def test_what_it_says_it_supports_it_does(self) -> None:
        """Some supported commands have the octet and bit of the specification's table 6.27."""
        announced = {(36, 1): 0x2035, (36, 2): 0x2036, (37, 5): 0x2041, (37, 6): 0x2042}
        room = Room()
        supported = room.command(0, 0x1002)[1:]
        for (octet, bit), opcode in announced.items():
            self.assertTrue(supported[octet] & 1 << bit, hex(opcode))
            self.assertNotEqual(room.command(0, opcode, bytes(25)), b"\x01")

    def test_a_4_2_controller_announces_no_extended_advertising(self) -> None:
        room = Room(is_extended=False)
        self.assertEqual(room.command(0, 0x1002)[1 + 36], 0)
        self.assertEqual(room.command(0, 0x2003)[2], 0)
        self.assertEqual(room.command(0, 0x1001)[1], 8)

    def test_reset_leaves_nothing_on_the_air(self) -> None:
        room = Room()
        room.advertise(0, FEED)
        room.command(0, 0x0C03)
        room.pass_time(1)
        self.assertNotIn("c0", room.medium.sent)
        self.assertEqual(room.controllers[0].on_air, [])

    def test_a_crash_leaves_nothing_and_is_told(self) -> None:
        room = Room()
        room.advertise(0, FEED)
        room.scan(0)
        room.packets[0].clear()
        room.controllers[0].fail()
        self.assertEqual(room.packets[0], [bytes((0x04, 0x10, 1, 0))])
        self.assertEqual(room.controllers[0].on_air, [])
        self.assertFalse(room.controllers[0].scan.is_on)

    def test_frozen_it_does_nothing_and_then_what_it_did(self) -> None:
        for remembers in (False, True):
            with self.subTest(remembers=remembers):
                room = Room()
                room.advertise(0, FEED)
                room.scan(0)
                room.stranger()
                room.pass_time(1)
                room.controllers[0].freeze()
                room.packets[0].clear()
                sent = room.medium.sent["c0"]
                room.pass_time(1)
                room.controllers[0].handle(struct.pack("<BHB", 1, 0x0C03, 0))
                self.assertEqual(room.packets[0], [])
                self.assertEqual(room.medium.sent["c0"], sent)
                room.controllers[0].thaw(remembers)
                room.pass_time(1)
                # The reset that was sent meanwhile is carried out if `remembers`, and otherwise
                # lost.
                self.assertEqual(bool(room.controllers[0].on_air), not remembers)
                self.assertEqual(len(room.packets[0]) > 1, not remembers)

    def test_a_set_that_is_not_there_cannot_be_removed(self) -> None:
        self.assertEqual(Room().command(0, 0x203C, b"\x05"), b"\x42")


class AdvertisingTest(TestCase):
    def test_an_advert_is_repeated_at_its_interval(self) -> None:
        room = Room()
        room.advertise(0, FEED, interval=0xA0)
        room.pass_time(10.5)
        # The interval is 100 ms, and the jitter at most 10 ms.
        self.assertIn(room.medium.sent["c0"], range(94, 106))

    def test_data_in_fragments_is_joined(self) -> None:
        room = Room()
        room.advertise(0, b"")
        for operation, fragment in ((1, b"\x03\x03"), (0, b"\xed"), (2, b"\xfe")):
            parameters = bytes((0, operation, 0, len(fragment))) + fragment
            room.command(0, 0x2037, parameters)
        self.assertEqual(room.controllers[0].on_air[0].data, FEED)

    def test_the_random_address_of_a_set_is_the_one_on_the_air(self) -> None:
        room = Room()
        room.advertise(0, FEED)
        parameters = bytearray(25)
        parameters[1], parameters[10] = 0x10, 1
        room.command(0, 0x2036, bytes(parameters))
        room.command(0, 0x2035, bytes((0, 1, 2, 3, 4, 5, 6)))
        self.assertEqual(room.controllers[0].on_air[0].advert().address, bytes((1, 2, 3, 4, 5, 6)))

    def test_a_4_2_host_advertises_with_the_older_commands(self) -> None:
        room = Room(is_extended=False)
        room.command(0, 0x2006, struct.pack("<HHBB", 0xA0, 0xA0, 3, 0) + bytes(9))
        room.command(0, 0x2008, bytes((len(FEED),)) + FEED + bytes(31 - len(FEED)))
        room.command(0, 0x200A, b"\x01")
        room.command(1, 0x200B, struct.pack("<BHHBB", 1, 0x12, 0x12, 0, 0))
        room.command(1, 0x200C, b"\x01\x00")
        room.medium.set_level("c0", "c1", -71)
        room.pass_time(0.2)
        report = room.packets[1][0]
        self.assertEqual(report[3:6], b"\x02\x01\x03")
        self.assertEqual(report[14:-1], FEED)
        self.assertEqual(struct.unpack("b", report[-1:])[0], -71)
        room.command(0, 0x200A, b"\x00")
        self.assertEqual(room.controllers[0].on_air, [])


class ScanTest(TestCase):
    def test_only_a_scanning_controller_hears(self) -> None:
        room = Room()
        room.stranger()
        room.pass_time(1)
        self.assertEqual(room.packets[0], [])

    def test_an_active_scan_gets_the_response_even_an_empty_one(self) -> None:
        room = Room()
        room.scan(0)
        room.stranger()
        room.pass_time(0.05)
        event_types = [packet[5] for packet in room.packets[0]]
        self.assertEqual(event_types, [0x13, 0x1B])

    def test_a_passive_scan_gets_none(self) -> None:
        room = Room()
        room.scan(0, active=False)
        room.stranger()
        room.pass_time(0.05)
        self.assertEqual([packet[5] for packet in room.packets[0]], [0x13])

    def test_the_accept_list_is_obeyed(self) -> None:
        room = Room()
        room.stranger()
        room.scan(0)
        room.command(0, 0x2041, struct.pack("<BBBBHH", 1, 1, 1, 0, 0x12, 0x12))
        room.pass_time(1)
        self.assertEqual(room.packets[0], [])
        room.command(0, 0x2011, bytes.fromhex("01 01 03 02 01 70 5b"))
        room.pass_time(1)
        self.assertNotEqual(room.packets[0], [])


class DuplicateFilterTest(TestCase):
    def reports(self, mode: str) -> int:
        """Returns the number of reports in one second of a filtering scan. The data of the adverts
        changes after half a second."""
        room = Room()
        room.controllers[0].duplicates = DuplicateFilter(mode)
        room.scan(0, filters=True, active=False)
        room.stranger(text="03:edfe")
        room.pass_time(0.5)
        room.stranger(text="03:edff")
        room.pass_time(0.5)
        return len(room.levels(0))

    def test_each_mode_drops_what_it_says(self) -> None:
        self.assertEqual(self.reports("addr"), 1)
        self.assertEqual(self.reports("data"), 2)
        self.assertGreater(self.reports("none"), 7)

    def test_a_new_scan_forgets(self) -> None:
        room = Room()
        room.stranger()
        for _ in range(3):
            room.scan(0, filters=True, active=False)
            room.pass_time(1)
        self.assertEqual(len(room.levels(0)), 3)

    def test_a_mode_that_does_not_exist_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            DuplicateFilter("some")
