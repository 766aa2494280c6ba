"""Tests of the reach, levels, noise and loss between radios."""

from unittest import TestCase

from .room import Room


class LevelTest(TestCase):
    def test_the_level_set_is_the_level_heard_and_each_way_is_its_own(self) -> None:
        room = Room()
        for index in (0, 1):
            room.scan(index)
            room.advertise(index, b"\x02\x01\x06")
        room.medium.set_level("c0", "c1", -85)
        room.medium.set_level("c1", "c0", -40)
        room.pass_time(1)
        self.assertEqual(set(room.levels(1)), {-85})
        self.assertEqual(set(room.levels(0)), {-40})

    def test_the_closest_match_counts(self) -> None:
        medium = Room().medium
        medium.set_level("*", "*", -1)
        medium.set_level("*", "c1", -2)
        medium.set_level("c0", "*", -3)
        self.assertEqual([medium.level("c0", "c1"), medium.level("x", "c1")], [-3, -2])
        medium.set_level("c0", "c1", None)
        self.assertIsNone(medium.level("c0", "c1"))

    def test_nobody_hears_what_is_out_of_reach(self) -> None:
        room = Room()
        room.scan(1)
        room.advertise(0, b"\x02\x01\x06")
        room.medium.set_level("c0", "c1", None)
        room.pass_time(1)
        self.assertEqual(room.levels(1), [])
        self.assertGreater(room.medium.sent["c0"], 5)

    def test_a_ramp_is_even_and_ends_at_its_end(self) -> None:
        room = Room()
        room.scan(1)
        room.advertise(0, b"\x02\x01\x06")
        room.medium.ramp("c0", "c1", -85, -40, 5)
        room.pass_time(6)
        heard = room.levels(1)
        self.assertEqual(heard, sorted(heard))
        self.assertEqual(heard[-1], -40)
        self.assertGreater(len(set(heard)), 30)

    def test_a_level_that_is_set_ends_a_ramp(self) -> None:
        room = Room()
        room.medium.ramp("c0", "c1", -85, -40, 5)
        room.pass_time(1)
        room.medium.set_level("c0", "c1", -70)
        room.pass_time(9)
        self.assertEqual(room.medium.level("c0", "c1"), -70)

    def test_levels_that_are_no_levels_arrive_as_they_are(self) -> None:
        for level in (127, 0, 20):
            with self.subTest(level=level):
                room = Room()
                room.medium.noise = 3 if level == 127 else 0
                room.scan(0)
                room.stranger(level=level)
                room.pass_time(1)
                self.assertEqual(set(room.levels(0)), {level})


class ChanceTest(TestCase):
    def test_noise_has_the_spread_that_was_set(self) -> None:
        room = Room()
        room.medium.noise = 4.0
        room.scan(0)
        room.stranger(level=-60)
        room.pass_time(400)
        heard = room.levels(0)
        mean = sum(heard) / len(heard)
        spread = (sum((each - mean) ** 2 for each in heard) / len(heard)) ** 0.5
        self.assertAlmostEqual(mean, -60, delta=0.5)
        self.assertAlmostEqual(spread, 4, delta=0.4)

    def test_loss_takes_the_share_that_was_set(self) -> None:
        room = Room()
        room.medium.loss = 0.25
        room.scan(0)
        room.stranger()
        room.pass_time(400)
        share = len(room.levels(0)) / room.medium.sent["stranger"]
        self.assertAlmostEqual(share, 0.75, delta=0.03)

    def test_the_same_seed_gives_the_same_air(self) -> None:
        def heard() -> list[bytes]:
            room = Room()
            room.medium.noise, room.medium.loss = 5, 0.3
            room.scan(0)
            room.stranger()
            room.pass_time(20)
            return room.packets[0]

        self.assertEqual(heard(), heard())


class StrangerTest(TestCase):
    def test_removing_by_prefix_leaves_the_others(self) -> None:
        room = Room()
        for name in ("crowd1", "crowd2", "tile"):
            room.stranger(name)
        self.assertEqual(room.medium.remove("crowd"), 2)
        room.pass_time(1)
        self.assertEqual(set(room.medium.sent), {"tile"})

    def test_adding_one_again_replaces_that_one_alone(self) -> None:
        room = Room()
        for name in ("tile-other", "tile", "tile"):
            room.stranger(name)
        room.pass_time(1)
        self.assertAlmostEqual(room.medium.sent["tile"], room.medium.sent["tile-other"], delta=1)
