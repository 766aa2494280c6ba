"""The controllers' filters of repeated adverts.

A host enables the filter with one bit. The chip decides which adverts are equal. The filter is
reset when a scan starts.
"""

from __future__ import annotations

from collections.abc import Hashable

from .advert import Advert

MODES = ("none", "addr", "data")


class DuplicateFilter:
    """A filter. `none` reports every advert, `addr` each address once, `data` each pair of address
    and data once."""

    def __init__(self, mode: str = "addr") -> None:
        if mode not in MODES:
            raise ValueError(f"not a duplicate filter: {mode}")
        self.mode = mode
        self._seen: set[Hashable] = set()

    def passes(self, advert: Advert) -> bool:
        if self.mode == "none":
            return True
        key: Hashable = (advert.address, advert.address_type)
        if self.mode == "data":
            key = (key, advert.data)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def forget(self) -> None:
        self._seen.clear()
