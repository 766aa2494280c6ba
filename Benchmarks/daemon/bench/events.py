"""A reader of events and metrics from gotchud's socket."""

from __future__ import annotations

import json
import socket
import threading
import time
from pathlib import Path


def connect(path: Path, target: str) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    client.connect(str(path))
    client.sendall(f"GET {target} HTTP/1.1\r\nHost: gotchu\r\nConnection: close\r\n\r\n".encode())
    return client


def get(path: Path, target: str) -> str:
    with connect(path, target) as client, client.makefile("rb") as stream:
        return stream.read().decode()


def heard(path: Path) -> int:
    """Returns the number of adverts with an EID that gotchud has counted since its start."""
    return sum(
        int(float(line.split()[-1]))
        for line in get(path, "/metrics").splitlines()
        if line.startswith("gotchu_adverts_total{") and 'result="ours"' in line
    )


class Events(threading.Thread):
    """Records the time of the first event about each EID, and counts the events `lagged`."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self._client = connect(path, "/v1/events?sessions=true")
        self.arrivals: dict[str, int] = {}
        self.lagged = 0
        self.start()

    def run(self) -> None:
        try:
            with self._client.makefile("rb") as stream:
                for line in stream:
                    if not line.startswith(b"{"):
                        continue
                    now = time.monotonic_ns()
                    event = json.loads(line)
                    if event["event"] == "session":
                        self.arrivals.setdefault(event["session"]["eid"], now)
                    elif event["event"] == "lagged":
                        self.lagged += 1
        except (OSError, ValueError):
            pass

    def close(self) -> None:
        self._client.shutdown(socket.SHUT_RDWR)
        self.join(5)
        self._client.close()
