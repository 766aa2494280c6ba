"""Measures how long a daemon needs to recover from a fault, by the adverts on the air."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from time import monotonic, time
from typing import Any

from . import kernel
from .deadline import eventually
from .http import Refused
from .scenario import World, expect
from .stack import Daemon

AMOUNT = 700

LIMIT = 15.0
"""The time limit of a recovery, in seconds. The aim on a real CPU is 2 s."""


class Till:
    """A kiosk with an open request that must survive every fault."""

    def __init__(self, world: World, daemon: Daemon) -> None:
        self._world = world
        self._daemon = daemon
        self._request = daemon.request(AMOUNT, ttl_seconds=300)
        self.expect_all_well()

    @property
    def eid(self) -> str:
        """The request's current EID, which may change while the request is open."""
        path = f"/v1/requests/{self._request['id']}"
        return str(self._daemon.client.get(path)["eid"])

    def expect_all_well(self) -> None:
        eventually("the request to be on the air", self.is_on_air)
        eventually(f"the {self._daemon.name} to scan", self.is_scanning)

    def measure(
        self, name: str, ended: float, limit: float = LIMIT, **more: Callable[[], Any]
    ) -> None:
        """Records the seconds from the end of a fault until each check is true: the request is on
        the air, the daemon scans, and the checks in `more`."""
        checks = {"on_air": self.is_on_air, "scanning": self.is_scanning} | more

        def all_are_well() -> bool:
            for what in list(checks):
                if checks[what]():
                    self._world.figures[f"{name}_{what}_seconds"] = round(monotonic() - ended, 2)
                    del checks[what]
            return not checks

        try:
            eventually(f"the recovery after {name}", all_are_well, limit)
        except AssertionError as late:
            raise AssertionError(f"{late}; still wrong: {', '.join(checks)}") from late
        expect(f"the request's state after {name}", self._daemon.request_state(self._request), "advertising")

    def is_on_air(self) -> bool:
        return self._world.is_on_air(self.eid, self._daemon.controller)

    def is_scanning(self) -> bool:
        """Returns true if the controller scans, and the daemon reports a scan and no radio
        problem."""
        controllers = self._world.air.state()["controllers"]
        controller = controllers.get(self._daemon.controller, {"is_scanning": False})
        return controller["is_scanning"] and self.radio()["is_scanning"] and not self.problems()

    def radio(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = self._daemon.client.get("/v1/status")["radio"]
        except (OSError, Refused):
            return {"is_scanning": False}
        return found

    def problems(self) -> list[str]:
        """Returns the codes of the radio problems that the daemon reports."""
        return problems(self._daemon)

    def expect_problem(self, *codes: str) -> None:
        what = f"the {self._daemon.name} to report {' or '.join(codes)}"
        eventually(what, lambda: set(codes) & set(self.problems()))

    def withdraw(self) -> None:
        """Cancels the request, and checks that it leaves the air."""
        self._daemon.client.call("DELETE", f"/v1/requests/{self._request['id']}")
        self._world.expect_silence(self._daemon)


def allow_power_cycle(world: World) -> None:
    """Permits the payer's daemon to cycle its adapter's power, from its next start on."""
    configuration = world.logs / "payer.json"
    configuration.write_text('{"power_cycle": true}')
    world.payer.extra = ["--config", str(configuration)]


def problems(daemon: Daemon) -> list[str]:
    """Returns the codes of the radio problems that a daemon reports."""
    health = daemon.client.get("/v1/status")["health"]
    return [item["code"] for item in health if item["code"].startswith("b")]


def has_heard(listener: Daemon, eid: str, since: float, verdict: str | None = None) -> bool:
    """Returns true if the daemon has heard this EID after `since`, a time of the monotonic clock,
    and the EID's verdict is `verdict`, if one is given."""
    found = listener.presence_now(eid)
    if not found or verdict not in (None, found["verdict"]):
        return False
    heard = datetime.fromisoformat(found["last_heard_at"].replace("Z", "+00:00")).timestamp()
    return heard > time() - (monotonic() - since)


def begin_fresh_scans(world: World, *listeners: Daemon) -> None:
    """Makes the kernel begin a new scan of 10.24 s now."""
    for listener in listeners:
        restarts = scans(world, listener)

        def stopped(listener: Daemon = listener) -> bool:
            try:
                kernel.stop_discovery(listener.adapter)
            except OSError:
                return False  # The kernel is between two scans.
            return True

        eventually("the kernel to end a scan", stopped)
        eventually(
            f"the {listener.name}'s controller to begin its next scan",
            lambda listener=listener, restarts=restarts: scans(world, listener) > restarts,
        )


def scans(world: World, listener: Daemon) -> int:
    """Returns the number of active scans that a controller has been told to start."""
    return int(world.air.state()["controllers"][listener.controller]["active_scans"])
