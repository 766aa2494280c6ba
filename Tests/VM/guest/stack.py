"""The programs of a payment, which run as on a real machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import sleep
from typing import Any

from air.client import AirClient

from .deadline import FIRST_START_TIMEOUT, eventually
from .events import Events
from .http import Client, Refused
from .process import Process

CONTROLLERS = 3
SERVER = "127.0.0.1:8080"
AIR_SOCKET = "/run/air.sock"
ACTIVATION = Path("/usr/share/dbus-1/system-services/org.bluez.service")
OPENING_BALANCE = 10_000
"""Cents in every new wallet of the development server."""

COMMAND_LIMIT = 90.0
"""The time limit of a command, in seconds."""


class Platform:
    """The system bus, the virtual controllers and bluetoothd."""

    def __init__(self, logs: Path, seed: int) -> None:
        self._logs = logs
        # Without systemd, the bus cannot start bluetoothd. Each attempt would read the host's files.
        ACTIVATION.unlink(missing_ok=True)
        self._start_bus()
        self._air = Process(
            "air",
            [sys.executable, "-S", "-B", "-m", "air", f"--controllers={CONTROLLERS}"]
            + [f"--socket={AIR_SOCKET}", f"--seed={seed}"],
            logs / "air.log",
        )
        self._air.wait_until_it_says("air ready", FIRST_START_TIMEOUT)
        self.air = AirClient(AIR_SOCKET)
        self.start_bluetoothd()
        eventually(
            "all adapters to be powered",
            lambda: all(map(is_powered, range(CONTROLLERS))),
            FIRST_START_TIMEOUT,
        )

    def _start_bus(self) -> None:
        folder = Path("/run/dbus")
        folder.mkdir(parents=True, exist_ok=True)
        self.bus = Process(
            "dbus-daemon",
            ["dbus-daemon", "--system", "--nofork", "--nopidfile"],
            self._logs / "dbus-daemon.log",
        )
        eventually("the system bus", (folder / "system_bus_socket").exists, FIRST_START_TIMEOUT)

    def restart_bus(self) -> None:
        """Kills the bus, waits until bluetoothd has ended too, and starts another bus."""
        self.bus.kill()
        eventually("bluetoothd to end", lambda: not self.bluetoothd.is_alive)
        Path("/run/dbus/system_bus_socket").unlink(missing_ok=True)
        self._start_bus()

    def restart_bluetoothd(self, *flags: str) -> None:
        self.bluetoothd.stop()
        self.start_bluetoothd(*flags)
        eventually("all adapters to be powered", lambda: all(map(is_powered, range(CONTROLLERS))))

    def start_bluetoothd(self, *flags: str) -> None:
        # Before BlueZ 5.77, an advertising interval can be set only with --experimental.
        self.bluetoothd = Process(
            "bluetoothd",
            ["bluetoothd", *(flags or ("--nodetach", "--experimental"))],
            self._logs / "bluetoothd.log",
        )


def bus_property(path: str, interface: str, name: str) -> Any:
    """Returns a property of one of bluetoothd's objects, or None if it does not exist or no answer
    comes in time."""
    try:
        answer = subprocess.run(
            ["busctl", "--json=short", "get-property", "org.bluez", path, interface, name],
            capture_output=True,
            text=True,
            timeout=COMMAND_LIMIT,
        )
    except subprocess.TimeoutExpired:
        # Virtual time runs on while a busy host loads the program.
        return None
    return json.loads(answer.stdout)["data"] if answer.returncode == 0 else None


def is_powered(index: int) -> bool:
    return bus_property(f"/org/bluez/hci{index}", "org.bluez.Adapter1", "Powered") is True


class OtherScanner:
    """Another program that scans on an adapter without a filter for devices."""

    def __init__(self, adapter: int, logs: Path) -> None:
        address = bus_property(f"/org/bluez/hci{adapter}", "org.bluez.Adapter1", "Address")
        with (logs / "other-scanner.log").open("ab") as output:
            self._child = subprocess.Popen(
                ["bluetoothctl"], stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT
            )
        # With a transport in its filter, bluetoothd starts the next scan at once.
        self._say(f"select {address}", "menu scan", "transport le", "back", "scan on")
        path = f"/org/bluez/hci{adapter}"
        eventually(
            "another program to scan",
            lambda: bus_property(path, "org.bluez.Adapter1", "Discovering"),
        )

    def _say(self, *lines: str) -> None:
        if self._child.stdin is None:
            raise AssertionError("bluetoothctl has no input")
        for line in lines:
            self._child.stdin.write(f"{line}\n".encode())
            self._child.stdin.flush()
            # bluetoothctl loses commands that arrive while it reads bluetoothd's objects.
            sleep(1.0)

    def stop(self) -> None:
        """Ends the program, and so its scan."""
        self._child.kill()
        self._child.wait()


class Server:
    """The payment server on one database file."""

    def __init__(self, programs: Path, log: Path) -> None:
        self._program = str(programs / "gotchu-server")
        self._database = "sqlite:/run/gotchu-server.sqlite"
        self.process = Process(
            "gotchu-server",
            [self._program, "serve", "--listen", SERVER, "--database", self._database]
            + ["--dev", "--dev-opening-balance", str(OPENING_BALANCE)],
            log,
        )
        self.process.wait_until_it_says("listening on", FIRST_START_TIMEOUT)

    def login(self, email: str) -> Client:
        """Returns a logged-in client of the server without a daemon, such as a phone."""
        return Client(SERVER, self.anyone().post("/auth/dev-login", {"email": email})["token"])

    def anyone(self) -> Client:
        return Client(SERVER)

    def verify(self) -> None:
        """Runs `gotchu-server verify`, and fails if the books are not right."""
        proof = subprocess.run(
            [self._program, "verify", "--database", self._database],
            capture_output=True,
            text=True,
            timeout=COMMAND_LIMIT,
        )
        if proof.returncode != 0:
            raise AssertionError(f"the books do not balance:\n{proof.stdout}{proof.stderr}")


class Answer:
    """The result of a gotchu-ctl command."""

    def __init__(self, finished: subprocess.CompletedProcess[str]) -> None:
        self.status = finished.returncode
        self.error = finished.stderr
        self.output = finished.stdout

    @property
    def object(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.output)
        return found


class Daemon:
    """A `gotchud` on one adapter, with its own socket and state directory."""

    def __init__(self, name: str, adapter: int, programs: Path, logs: Path) -> None:
        self.name = name
        self.adapter = adapter
        self.controller = f"c{adapter}"
        self.radio = f"bluez:hci{adapter}"
        self._programs = programs
        self._logs = logs
        self._home = Path("/run/daemons") / logs.name / name
        self.socket = str(self._home / "gotchud.sock")
        self.client = Client(self.socket)
        self.listen = "always"
        """The value of `--listen`: always, unless a scenario tests another value."""
        self.prefix: list[str] = []
        """A command that runs the daemon with fewer rights or with other variables."""
        self.extra: list[str] = []
        """Additional arguments of the daemon."""

    def start(self) -> None:
        """Starts the daemon. A second start uses the state of the first."""
        state = self._home / "state"
        state.mkdir(parents=True, exist_ok=True)
        self.process = Process(
            f"gotchud of the {self.name}",
            self.prefix
            + [str(self._programs / "gotchud"), "--socket", self.socket, "--state", str(state)]
            + ["--server", f"http://{SERVER}", "--radio", self.radio]
            + ["--listen", self.listen, "--spender-uid", "0", *self.extra],
            self._logs / f"{self.name}.log",
        )

    def wait_until_it_answers(self) -> None:
        eventually(f"the {self.name} to answer", lambda: self._status() is not None)

    def wait_until_ready(self) -> None:
        def is_ready() -> bool:
            status = self._status()
            radio = status and status["radio"]
            is_listening = radio and radio["is_scanning"] == radio["listening"]["is_wanted"]
            return bool(status and status["is_ready"] and is_listening)

        eventually(f"the {self.name} to be ready", is_ready)

    def _status(self) -> dict[str, Any] | None:
        if not self.process.is_alive:
            raise AssertionError(f"{self.process.name} ended by itself, see {self.process.log}")
        try:
            return self.client.get("/v1/status")
        except (OSError, Refused):
            return None

    def login(self, email: str) -> None:
        self.client.post("/v1/login", {"dev_email": email})

    def events(self) -> Events:
        return Events(self.client, self._logs / f"{self.name}-events.ndjson")

    def ctl(self, *arguments: str) -> Answer:
        """Runs gotchu-ctl against this daemon."""
        program = str(self._programs / "gotchu-ctl")
        finished = subprocess.run(
            [program, *arguments, "--socket", self.socket],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_LIMIT,
        )
        with (self._logs / f"{self.name}-ctl.log").open("a") as log:
            log.write(f"$ gotchu-ctl {' '.join(arguments)}\n{finished.stdout}{finished.stderr}")
            log.write(f"exit {finished.returncode}\n")
        return Answer(finished)

    def command(self, *arguments: str) -> Process:
        """Starts gotchu-ctl against this daemon."""
        return Process(
            f"gotchu-ctl {arguments[0]}",
            [str(self._programs / "gotchu-ctl"), *arguments, "--socket", self.socket],
            self._logs / f"{self.name}-ctl.log",
        )

    # The daemon's state and actions.

    def balance(self) -> int:
        return int(self.client.get("/v1/wallet")["available_cents"])

    def presence(self, eid: str) -> dict[str, Any] | None:
        """Returns the daemon's presence of an EID, or None."""
        heard = self.client.get("/v1/sessions")["sessions"]
        return next((each for each in heard if each["eid"] == eid), None)

    def presence_now(self, eid: str) -> dict[str, Any] | None:
        """Returns the presence as the event stream's snapshot has it. `presence` would wait if the
        radio has just begun to listen."""
        connection = self.client.connect()
        try:
            connection.request("GET", "/v1/events?sessions=true")
            snapshot = json.loads(connection.getresponse().readline())["snapshot"]
        finally:
            connection.close()
        return next((each for each in snapshot["sessions"] if each["eid"] == eid), None)

    def request(self, amount_cents: int, **more: Any) -> dict[str, Any]:
        return self.client.post("/v1/requests", {"amount_cents": amount_cents} | more)

    def request_state(self, request: dict[str, Any]) -> str:
        return str(self.client.get(f"/v1/requests/{request['id']}")["state"])

    def pay(self, amount_cents: int, **what: Any) -> dict[str, Any]:
        return self.client.post("/v1/payments", {"confirm_amount_cents": amount_cents} | what)

    def tap(self, amount_cents: int, eid: Callable[[], str], **what: Any) -> dict[str, Any]:
        """Starts a payment with the till at the payer's device. Repeats the call until it succeeds.

        On a busy machine, the emulated air is silent for seconds. The daemon then rightly refuses
        with NOT_NEAR, and sends nothing.
        """

        def paid() -> dict[str, Any] | None:
            now = eid()
            found = self.presence(now)
            if not found or found["verdict"] != "tap":
                return None
            try:
                return self.pay(amount_cents, eid=now, proximity="tap", **what)
            except Refused as refused:
                if refused.code != "NOT_NEAR":
                    raise
                return None

        return eventually(f"the {self.name} to be at tap distance of the till", paid)

    def payment(self, identifier: str) -> dict[str, Any]:
        return self.client.get(f"/v1/payments/{identifier}")

    def metric(self, name: str) -> float:
        return self.client.metric(name)

    def ignored(self) -> dict[str, int]:
        found: dict[str, int] = self.client.get("/v1/status")["radio"]["ignored"]
        return found
