"""A client of the control socket."""

from __future__ import annotations

import json
import socket
from typing import Any


class AirFailure(Exception):
    """The air could not carry out a command."""


class AirClient:
    """A client with methods for some commands of `Control`; `do` sends any command."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(30)
        self._socket.connect(path)
        self._lines = self._socket.makefile("rb")

    def do(self, command: str, /, **arguments: Any) -> dict[str, Any]:
        self._socket.sendall(json.dumps({"do": command} | arguments).encode() + b"\n")
        reply: dict[str, Any] = json.loads(self._lines.readline() or b'{"error": "the air is gone"}')
        if not reply.get("ok"):
            raise AirFailure(f"{command}: {reply['error']}")
        return reply

    def level(self, sender: str, receiver: str, dbm: float | None) -> None:
        self.do("level", sender=sender, receiver=receiver, dbm=dbm)

    def duplicates(self, mode: str) -> None:
        self.do("duplicates", mode=mode)

    def add(self, table: str) -> None:
        self.do("add", table=table)

    def remove(self, name: str) -> None:
        self.do("remove", name=name)

    def state(self) -> dict[str, Any]:
        return self.do("state")
