"""How a controller drops adverts that it has reported before.

A host asks for it with one bit; what counts as "the same" is the controller's own choice, and chips differ.
A filter forgets everything when a scan is started again.
"""

from __future__ import annotations

from collections.abc import Hashable

from .advert import Advert

MODES = ("none", "addr", "data")


class DuplicateFilter:
    """`none` reports everything, `addr` each address once, `data` each change of an address's data."""

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
