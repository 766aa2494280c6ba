"""Runs scenarios, and has checks for them."""

from __future__ import annotations

import importlib
import shutil
import traceback
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from .deadline import eventually
from .http import Refused
from .stack import Daemon, Platform, Server

FAR, NEAR, TAP = -85, -55, -33
"""Levels in dBm with the verdicts `far`, `near` and `tap` at the default thresholds. `TAP` is the
level at 5 cm of a till that is heard with -59 dBm at one metre."""


def expect(what: str, actual: Any, wanted: Any) -> None:
    """Fails with both values if they differ. A plain `assert` would show neither."""
    if actual != wanted:
        raise AssertionError(f"{what}: {actual!r}, and not {wanted!r}")


def expect_refused(what: str, code: str, act: Callable[[], Any]) -> Refused:
    """Fails unless `act` is refused with this code."""
    try:
        answer = act()
    except Refused as refused:
        expect(f"the code that refuses {what}", refused.code, code)
        return refused
    raise AssertionError(f"{what} was not refused: {answer!r}")


class World:
    """The environment of a scenario: an empty air, a server, and two daemons that have not
    started."""

    def __init__(
        self, name: str, platform: Platform, server: Server, programs: Path, logs: Path
    ) -> None:
        self.name = name
        self.platform = platform
        self.air = platform.air
        self.server = server
        self.programs = programs
        self.logs = logs
        self.figures: dict[str, float] = {}
        self.kiosk = Daemon("kiosk", 0, programs, logs)
        self.payer = Daemon("payer", 1, programs, logs)
        self._started: list[Daemon] = []

    def start(self, *daemons: Daemon) -> None:
        """Starts daemons, logs each in as its own user, and waits until all are ready."""
        for daemon in daemons:
            daemon.start()
            self._started.append(daemon)
        for daemon in daemons:
            daemon.wait_until_it_answers()
            daemon.login(f"{self.name}-{daemon.name}@example.com")
        for daemon in daemons:
            daemon.wait_until_ready()

    def set_levels(self, level: int | None, *others: Daemon) -> None:
        """Sets the levels in both directions between the payer and the others, by default the
        kiosk."""
        for other in others or (self.kiosk,):
            self.air.level(other.controller, self.payer.controller, level)
            self.air.level(self.payer.controller, other.controller, level)

    def is_on_air(self, eid: str, controller: str = "c0") -> bool:
        """Returns true if the simulated air says that a controller sends this EID."""
        sets = self.air.state()["controllers"][controller]["on_air"]
        return any(eid.encode().hex() in each["data"] for each in sets)

    def expect_silence(self, daemon: Daemon, seconds: float = 5.0) -> None:
        """Checks that a controller stops sending within some seconds, and then sends nothing for 2
        s."""

        def state() -> tuple[bool, int]:
            everything = self.air.state()
            is_silent = not everything["controllers"][daemon.controller]["on_air"]
            return is_silent, everything["sent"].get(daemon.controller, 0)

        eventually(f"the {daemon.name} to leave the air", lambda: state()[0], seconds)
        before = state()[1]
        sleep(2.0)
        what = f"the number of adverts that the {daemon.name} has sent 2 s after it left the air"
        expect(what, state()[1], before)

    def finish(self) -> None:
        """Ends the daemons, which must exit with status 0."""
        for daemon in self._started:
            if daemon.process.is_alive:
                expect(f"the exit status of {daemon.process.name}", daemon.process.stop(), 0)

    def abandon(self) -> None:
        """Saves the state of the air after a failure, and kills the daemons."""
        (self.logs / "air.txt").write_text(f"{self.air.state()}\n")
        for daemon in self._started:
            if daemon.process.is_alive:
                daemon.process.kill()


class Outcome(dict[str, Any]):
    """A scenario's entry in results.json."""


def run(name: str, platform: Platform, server: Server, programs: Path, out: Path) -> Outcome:
    """Runs one scenario, and returns its outcome. A failure is an outcome too."""
    logs = out / name
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    began = monotonic()
    world = World(name, platform, server, programs, logs)
    failure = None
    try:
        platform.air.do("quiet")
        importlib.import_module(f"guest.scenarios.{name}").run(world)
        world.finish()
    except Exception:  # Any error is this scenario's failure. The next scenario still runs.
        failure = traceback.format_exc()
        world.abandon()
    return Outcome(
        name=name,
        failure=failure,
        seconds=round(monotonic() - began, 2),
        figures=world.figures,
    )
