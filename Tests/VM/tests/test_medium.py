"""Tests of the reach, levels, noise and loss between radios."""

from unittest import TestCase

from .simulated_air import SimulatedAir


class LevelTest(TestCase):
    def test_the_level_set_is_the_level_heard_and_each_way_is_its_own(self) -> None:
        air = SimulatedAir()
        for index in (0, 1):
            air.scan(index)
            air.advertise(index, b"\x02\x01\x06")
        air.medium.set_level("c0", "c1", -85)
        air.medium.set_level("c1", "c0", -40)
        air.advance(1)
        self.assertEqual(set(air.levels(1)), {-85})
        self.assertEqual(set(air.levels(0)), {-40})

    def test_the_closest_match_counts(self) -> None:
        medium = SimulatedAir().medium
        medium.set_level("*", "*", -1)
        medium.set_level("*", "c1", -2)
        medium.set_level("c0", "*", -3)
        self.assertEqual([medium.level("c0", "c1"), medium.level("x", "c1")], [-3, -2])
        medium.set_level("c0", "c1", None)
        self.assertIsNone(medium.level("c0", "c1"))

    def test_nobody_hears_what_is_out_of_reach(self) -> None:
        air = SimulatedAir()
        air.scan(1)
        air.advertise(0, b"\x02\x01\x06")
        air.medium.set_level("c0", "c1", None)
        air.advance(1)
        self.assertEqual(air.levels(1), [])
        self.assertGreater(air.medium.sent["c0"], 5)

    def test_a_ramp_is_even_and_ends_at_its_end(self) -> None:
        air = SimulatedAir()
        air.scan(1)
        air.advertise(0, b"\x02\x01\x06")
        air.medium.ramp("c0", "c1", -85, -40, 5)
        air.advance(6)
        heard = air.levels(1)
        self.assertEqual(heard, sorted(heard))
        self.assertEqual(heard[-1], -40)
        self.assertGreater(len(set(heard)), 30)

    def test_a_level_that_is_set_ends_a_ramp(self) -> None:
        air = SimulatedAir()
        air.medium.ramp("c0", "c1", -85, -40, 5)
        air.advance(1)
        air.medium.set_level("c0", "c1", -70)
        air.advance(9)
        self.assertEqual(air.medium.level("c0", "c1"), -70)

    def test_levels_that_are_no_levels_arrive_as_they_are(self) -> None:
        for level in (127, 0, 20):
            with self.subTest(level=level):
                air = SimulatedAir()
                air.medium.noise = 3 if level == 127 else 0
                air.scan(0)
                air.stranger(level=level)
                air.advance(1)
                self.assertEqual(set(air.levels(0)), {level})


class ChanceTest(TestCase):
    def test_noise_has_the_spread_that_was_set(self) -> None:
        air = SimulatedAir()
        air.medium.noise = 4.0
        air.scan(0)
        air.stranger(level=-60)
        air.advance(400)
        heard = air.levels(0)
        mean = sum(heard) / len(heard)
        spread = (sum((each - mean) ** 2 for each in heard) / len(heard)) ** 0.5
        self.assertAlmostEqual(mean, -60, delta=0.5)
        self.assertAlmostEqual(spread, 4, delta=0.4)

    def test_loss_takes_the_share_that_was_set(self) -> None:
        air = SimulatedAir()
        air.medium.loss = 0.25
        air.scan(0)
        air.stranger()
        air.advance(400)
        share = len(air.levels(0)) / air.medium.sent["stranger"]
        self.assertAlmostEqual(share, 0.75, delta=0.03)

    def test_the_same_seed_gives_the_same_air(self) -> None:
        def heard() -> list[bytes]:
            air = SimulatedAir()
            air.medium.noise, air.medium.loss = 5, 0.3
            air.scan(0)
            air.stranger()
            air.advance(20)
            return air.packets[0]

        self.assertEqual(heard(), heard())


class StrangerTest(TestCase):
    def test_removing_by_prefix_leaves_the_others(self) -> None:
        air = SimulatedAir()
        for name in ("crowd1", "crowd2", "tile"):
            air.stranger(name)
        self.assertEqual(air.medium.remove("crowd"), 2)
        air.advance(1)
        self.assertEqual(set(air.medium.sent), {"tile"})

    def test_adding_one_again_replaces_that_one_alone(self) -> None:
        air = SimulatedAir()
        for name in ("tile-other", "tile", "tile"):
            air.stranger(name)
        air.advance(1)
        self.assertAlmostEqual(air.medium.sent["tile"], air.medium.sent["tile-other"], delta=1)
