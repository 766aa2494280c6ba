"""The kernel's end of a management socket, which sends the adverts as DEVICE_FOUND events (BlueZ,
doc/mgmt-api.txt)."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from pathlib import Path

from .adverts import Advert, play

DEVICE_FOUND = 0x0012
COMMAND_STATUS = 0x0002
GET_CONNECTIONS = 0x0015
INVALID_INDEX = 0x11


def frame(advert: Advert) -> bytes:
    data = b"\x03\x03\xed\xfe" + b"\x0d\x16\xed\xfe" + advert.eid.encode()
    address = advert.device.to_bytes(6, "little")
    body = address + struct.pack("<BbIH", 2, advert.rssi, 0, len(data)) + data
    return struct.pack("<HHH", DEVICE_FOUND, 0, len(body)) + body


class Kernel:
    """A server on a Unix socket, to which only gotchud connects, with the library of kernel.c."""

    def __init__(self, path: Path) -> None:
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(str(path))
        self._listener.listen()
        self._client: socket.socket | None = None
        self._has_client = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            request = client.recv(64)
            if not request:
                # gotchud opened this socket only to read an adapter's counts, which do not exist.
                client.close()
                continue
            opcode, _, _ = struct.unpack("<HHH", request)
            assert opcode == GET_CONNECTIONS, opcode
            answer = struct.pack("<HB", GET_CONNECTIONS, INVALID_INDEX)
            client.send(struct.pack("<HHH", COMMAND_STATUS, 0xFFFF, len(answer)) + answer)
            self._client = client
            self._has_client.set()

    def play(self, rate: int, seconds: float, first_probe: int) -> dict[str, object]:
        if not self._has_client.wait(10):
            raise SystemExit("gotchud did not open the management socket")
        client = self._client

        def send(advert: Advert) -> None:
            # gotchud closes the socket while it does not listen.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                client.send(frame(advert))

        return play(rate, seconds, first_probe, send)
