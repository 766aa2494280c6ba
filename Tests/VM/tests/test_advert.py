"""Tests of the notation of adverts and strangers."""

from pathlib import Path
from random import Random
from unittest import TestCase

from air import advert

STRANGERS = Path(__file__).parent.parent / "strangers.txt"


class NotationTest(TestCase):
    def test_a_structure_is_length_type_payload(self) -> None:
        self.assertEqual(advert.data("03:edfe").hex(), "0303edfe")

    def test_text_and_hex_are_joined(self) -> None:
        self.assertEqual(advert.data('16:edfe+"a1"').hex(), "0516edfe6131")

    def test_broken_data_can_be_written(self) -> None:
        self.assertEqual(advert.data("01:06 =1e16ed").hex(), "0201061e16ed")

    def test_data_that_does_not_fit_into_an_advert_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            advert.data("ff:" + "00" * 30)

    def test_what_is_not_the_notation_is_refused(self) -> None:
        for text in ("edfe", "03:xy", "3:edfe", '16:edfe+09:"a"'):
            with self.subTest(text), self.assertRaises(ValueError):
                advert.data(text)

    def test_an_address_is_least_significant_octet_first(self) -> None:
        self.assertEqual(advert.address("C4:11:22:33:44:05").hex(), "0544332211c4")


class StrangersTest(TestCase):
    def test_the_table_has_22_kinds_with_names_and_addresses_of_their_own(self) -> None:
        found = advert.strangers(STRANGERS.read_text())
        self.assertEqual(len(found), 22)
        self.assertEqual(len({each.name for each in found}), 22)
        self.assertEqual(len({each.advert.address for each in found}), 22)

    def test_a_crowd_is_the_same_for_the_same_seed_and_within_its_levels(self) -> None:
        first = advert.crowd(40, Random(3), 1.0, (-90, -50))
        self.assertEqual(first, advert.crowd(40, Random(3), 1.0, (-90, -50)))
        self.assertNotEqual(first, advert.crowd(40, Random(4), 1.0, (-90, -50)))
        for each in first:
            self.assertIn(each.level, range(-90, -49))
            self.assertLessEqual(len(each.advert.data), advert.LEGACY_DATA_LIMIT)
