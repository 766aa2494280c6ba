"""A daemon's event stream, recorded in full."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Condition, Thread
from time import monotonic
from typing import Any

from .deadline import TIMEOUT, WaitTimeout
from .http import Client

Event = dict[str, Any]


class Events:
    """Receives the events of `GET /v1/events?sessions=true`, and also writes them to a log file."""

    def __init__(self, client: Client, log: Path) -> None:
        self._log = log
        self._arrived = Condition()
        self._events: list[tuple[float, Event]] = []
        self._connection = client.connect()
        self._connection.request("GET", "/v1/events?sessions=true")
        self._stream = self._connection.getresponse()
        # The next event may arrive only after a long time, so there is no timeout.
        self._connection.sock.settimeout(None)
        Thread(target=self._follow, daemon=True).start()
        self.wait("the first snapshot", lambda event: event["event"] == "snapshot")

    def now(self) -> int:
        """Returns a mark: `wait(..., since=mark)` examines only events that arrive after this
        call."""
        with self._arrived:
            return len(self._events)

    def wait(
        self,
        what: str,
        matches: Callable[[Event], bool],
        since: int = 0,
        seconds: float = TIMEOUT,
    ) -> tuple[float, Event]:
        """Returns the first event that matches, after the monotonic time at which it arrived."""
        end = monotonic() + seconds
        looked = since
        with self._arrived:
            while True:
                for index in range(looked, len(self._events)):
                    if matches(self._events[index][1]):
                        return self._events[index]
                looked = len(self._events)
                if not self._arrived.wait(end - monotonic()):
                    raise WaitTimeout(f"timed out after {seconds:g} s waiting for {what}")

    def all(self, since: int = 0) -> list[Event]:
        with self._arrived:
            return [event for _, event in self._events[since:]]

    def _follow(self) -> None:
        """Reads events until the daemon ends the stream or is killed."""
        with self._log.open("a") as log:
            try:
                while line := self._stream.readline():
                    if not line.strip():
                        continue  # an empty line, which keeps the connection alive
                    time = monotonic()
                    log.write(f"{time:.3f} {line.decode()}")
                    log.flush()
                    with self._arrived:
                        self._events.append((time, json.loads(line)))
                        self._arrived.notify_all()
            except (OSError, ValueError):
                log.write("(the stream broke)\n")
