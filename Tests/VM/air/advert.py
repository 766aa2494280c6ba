"""Adverts on the air, and the notation for strangers (devices that are not ours)."""

from __future__ import annotations

import re
from random import Random
from typing import NamedTuple

CONNECTABLE, SCANNABLE, NONCONNECTABLE = "connectable", "scannable", "nonconnectable"
KINDS = (CONNECTABLE, SCANNABLE, NONCONNECTABLE)

PUBLIC, RANDOM = 0, 1

LEGACY_DATA_LIMIT = 31
"""The maximum octets of data in a legacy advert (Core Specification Vol 6 Part B 2.3.1)."""


class Advert(NamedTuple):
    """A transmission, as every receiver in reach gets it."""

    address: bytes
    """Six octets, least significant first, as on the air."""
    address_type: int
    kind: str
    data: bytes
    scan_response: bytes = b""

    @property
    def answers_scans(self) -> bool:
        return self.kind != NONCONNECTABLE


class Stranger(NamedTuple):
    """A device that is not ours, which repeats one advert until it is removed."""

    name: str
    advert: Advert
    interval: float
    """Seconds between two adverts."""
    level: int
    """The level in dBm at which every controller receives it."""


def address(text: str) -> bytes:
    """Parses an address such as `C4:11:22:33:44:05`."""
    octets = bytes.fromhex(text.replace(":", ""))
    if len(octets) != 6:
        raise ValueError(f"not a Bluetooth address: {text}")
    return octets[::-1]


def structure(kind: int, payload: bytes) -> bytes:
    """One advertising data structure: length, type, payload."""
    return bytes((len(payload) + 1, kind)) + payload


_FIELD = re.compile(r'(?:([0-9a-f]{2}):)?(?:"([^"]*)"|([0-9a-f]*))')


def data(text: str) -> bytes:
    """Parses advertisement data in our notation.

    Structures are separated by blanks. `03:edfe` is type 0x03 with the payload ed fe. `09:"a1b2"`
    has text as its payload. `16:edfe+"a1b2"` has both. `=1e16ed` is octets as they are, for broken
    data. `-` is no data.
    """
    result = b""
    for word in text.split():
        if word == "-":
            continue
        if word.startswith("="):
            result += bytes.fromhex(word[1:])
            continue
        kind, payload = -1, b""
        for part in word.split("+"):
            match = _FIELD.fullmatch(part)
            if match is None or (match[1] is None) == (kind < 0):
                raise ValueError(f"not advertisement data: {word}")
            kind = int(match[1], 16) if match[1] else kind
            payload += match[2].encode() if match[2] is not None else bytes.fromhex(match[3])
        result += structure(kind, payload)
    if len(result) > LEGACY_DATA_LIMIT:
        raise ValueError(f"{len(result)} octets do not fit into one advert: {text}")
    return result


def strangers(text: str) -> list[Stranger]:
    """Parses a table of strangers in the notation of strangers.txt.

    `public` or `random` follows the address. Empty lines and lines that begin with # are skipped.
    """
    found = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, where, kind, interval, level, *fields = (cell.strip() for cell in line.split("|"))
        if kind not in KINDS:
            raise ValueError(f"{name}: not a kind of advert: {kind}")
        digits, type_name = where.split()
        advert = Advert(
            address(digits),
            {"public": PUBLIC, "random": RANDOM}[type_name],
            kind,
            data(fields[0]),
            data(fields[1]) if len(fields) > 1 else b"",
        )
        found.append(Stranger(name, advert, int(interval) / 1000, int(level)))
    return found


def crowd(size: int, random: Random, interval: float, levels: tuple[int, int]) -> list[Stranger]:
    """Returns everyday devices with random data, named `crowd0` and so on, with levels in a
    range."""
    return [
        Stranger(
            f"crowd{index}",
            Advert(
                # The two upper bits of a resolvable private address are 01.
                random.randbytes(5) + bytes((0x40 | random.randrange(0x40),)),
                RANDOM,
                *_bystander(index, random),
            ),
            interval,
            random.randint(*levels),
        )
        for index in range(size)
    ]


def _bystander(index: int, random: Random) -> tuple[str, bytes]:
    """Returns the kind and the data of an advert of one of eight kinds of everyday devices."""
    flags = structure(0x01, b"\x06")

    def service(uuid: bytes, payload: bytes) -> bytes:
        return flags + structure(0x03, uuid) + structure(0x16, uuid + payload)

    match index % 8:
        case 0:  # a phone nearby
            apple = b"\x4c\x00\x10\x05" + random.randbytes(5)
            return CONNECTABLE, flags + structure(0xFF, apple)
        case 1:  # a lost-and-found tag
            return NONCONNECTABLE, structure(0xFF, b"\x4c\x00\x12\x19" + random.randbytes(21))
        case 2:  # an exposure notification
            return CONNECTABLE, service(b"\x6f\xfd", random.randbytes(16))
        case 3:  # headphones that ask to be paired
            return CONNECTABLE, service(b"\x2c\xfe", random.randbytes(3))
        case 4:  # a laptop
            laptop = b"\x06\x00\x01\x09\x20\x02" + random.randbytes(18)
            return CONNECTABLE, structure(0xFF, laptop)
        case 5:  # a heart-rate band
            name = b"Band %04x" % random.randrange(0x10000)
            return CONNECTABLE, flags + structure(0x03, b"\x0d\x18") + structure(0x09, name)
        case 6:  # a Tile, with the same service UUID as ours
            tile = b"\x02\x00" + bytes(0x80 | octet for octet in random.randbytes(8))
            return CONNECTABLE, service(b"\xed\xfe", tile)
        case _:  # a beacon
            return NONCONNECTABLE, flags + structure(0x16, b"\xaa\xfe\x00" + random.randbytes(19))
