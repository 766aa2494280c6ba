"""JSON over HTTP, to a TCP port or to a Unix socket."""

from __future__ import annotations

import http.client
import json
import socket
from typing import Any

TIMEOUT = 60.0
"""The limit of one call in seconds. It is long, because the CPU is emulated."""


class Refused(Exception):
    """The server or the daemon refused a call."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        self.status = status
        self.problem = problem
        self.code = problem.get("code")
        super().__init__(f"{status} {self.code}: {problem.get('detail', problem)}")


class UnixConnection(http.client.HTTPConnection):
    """An HTTP connection through a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("gotchu", timeout=TIMEOUT)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Client:
    """A client of one server. `address` is `HOST:PORT`, or the path of a Unix socket."""

    def __init__(self, address: str, token: str | None = None) -> None:
        self._address = address
        self._token = token

    def connect(self) -> http.client.HTTPConnection:
        if self._address.startswith("/"):
            return UnixConnection(self._address)
        return http.client.HTTPConnection(self._address, timeout=TIMEOUT)

    def get(self, path: str) -> dict[str, Any]:
        return self.call("GET", path)

    def post(self, path: str, body: dict[str, Any], **headers: str) -> dict[str, Any]:
        return self.call("POST", path, body, headers)

    def metric(self, name: str) -> float:
        """Returns the value of the metric that begins with this name and labels."""
        connection = self.connect()
        try:
            connection.request("GET", "/metrics")
            lines = connection.getresponse().read().decode().splitlines()
        finally:
            connection.close()
        return float(next(line for line in lines if line.startswith(name)).split()[-1])

    def call(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """Makes a call on a new connection, and returns the object in the reply. Raises `Refused`
        for any status but 2xx."""
        sent = {name.replace("_", "-"): value for name, value in (headers or {}).items()}
        if body is not None:
            sent["Content-Type"] = "application/json"
        if self._token is not None:
            sent["Authorization"] = f"Bearer {self._token}"
        connection = self.connect()
        try:
            connection.request(method, path, None if body is None else json.dumps(body), sent)
            reply = connection.getresponse()
            content = reply.read()
        finally:
            connection.close()
        decoded: dict[str, Any] = json.loads(content) if content else {}
        if not 200 <= reply.status < 300:
            raise Refused(reply.status, decoded)
        return decoded
