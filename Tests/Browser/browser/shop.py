"""A shop: a payment server, a kiosk's daemon with its screens, and a payer's daemon, in the
simulated air."""

from __future__ import annotations

import json
import random
import socket
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

from guest.events import Events
from guest.http import Client, Refused
from guest.process import Process

from .deadline import eventually, expect

OPENING_BALANCE = 10_000
"""Cents in every new wallet."""

COMMAND_LIMIT = 60.0
"""The time limit of a command, in seconds."""


def free_port() -> int:
    """Returns a free port on loopback, below the ports that the kernel gives to clients."""
    while True:
        port = random.randint(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


class Daemon:
    """A gotchud with its settings in a file."""

    def __init__(self, name: str, shop: Shop, **settings: Any) -> None:
        self.name = name
        self.socket = str(shop.folder / f"{name}.sock")
        self.client = Client(self.socket)
        self.settings: dict[str, Any] = settings
        self._shop = shop

    def start(self, at: str = "0,0") -> None:
        """Starts the daemon at a position in metres, and waits until it answers."""
        self.launch(at)
        self.wait()

    def launch(self, at: str) -> None:
        """Starts the daemon. A second start uses the state of the first."""
        configuration = self._shop.folder / f"{self.name}.json"
        configuration.write_text(json.dumps({"server": self._shop.url} | self.settings))
        self.process = Process(
            self.name,
            [*self._shop.wrapper, str(self._shop.programs / "gotchud"), "--config", str(configuration)]
            + ["--socket", self.socket, "--state", str(self._shop.folder / self.name)]
            + ["--radio", f"simulated:{self._shop.folder}/air@{at}", "--log-level", "debug"],
            self._shop.folder / f"{self.name}.log",
        )

    def wait(self) -> None:
        """Waits until the daemon answers."""

        def answers() -> bool:
            if not self.process.is_alive:
                raise AssertionError(f"{self.name} ended: {self.process.output()[-2000:]}")
            try:
                return bool(self.client.get("/v1/status"))
            except (OSError, Refused):
                return False

        eventually(f"{self.name} to answer", answers)

    def switch_adapter(self, is_on: bool) -> None:
        """Switches the daemon's adapter in the simulated air on or off."""
        file = self._shop.folder / f"air/{self.process.pid}.off"
        if is_on:
            file.unlink()
        else:
            file.touch()

    def login(self) -> None:
        self.client.post("/v1/login", {"dev_email": f"{self.name}@example.com"})

    def events(self) -> Events:
        return Events(self.client, self._shop.folder / f"{self.name}-events.ndjson")

    def request(self, amount_cents: int, **more: Any) -> dict[str, Any]:
        return self.client.post("/v1/requests", {"amount_cents": amount_cents} | more)

    def request_state(self, request: dict[str, Any]) -> str:
        return str(self.client.get(f"/v1/requests/{request['id']}")["state"])

    def pay(self, request: dict[str, Any]) -> dict[str, Any]:
        """Starts the payment of a request by the request's id."""
        return self.client.post(
            "/v1/payments",
            {"sid": request["id"], "confirm_amount_cents": request["amount_cents"]},
        )

    def refunds(self) -> list[dict[str, Any]]:
        payments = self.client.get("/v1/payments")["payments"]
        return [payment for payment in payments if payment["kind"] == "refund"]

    def balance(self) -> int:
        return int(self.client.get("/v1/wallet")["available_cents"])

    def start_ctl(self, *arguments: str) -> Process:
        """Starts a gotchu-ctl command that runs until the shop is closed."""
        program = str(self._shop.programs / "gotchu-ctl")
        log = self._shop.folder / f"{self.name}-ctl.log"
        process = Process("gotchu-ctl", [program, *arguments, "--socket", self.socket], log)
        self._shop.ctl_processes.append(process)
        return process

    def ctl(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs gotchu-ctl against this daemon."""
        return subprocess.run(
            [str(self._shop.programs / "gotchu-ctl"), *arguments, "--socket", self.socket],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_LIMIT,
        )


class Shop:
    """All programs of a shop; their files are in one folder."""

    def __init__(self, programs: Path, folder: Path, kiosk: dict[str, Any], **screens: Any) -> None:
        self.programs = programs
        self.folder = folder
        self.database = f"sqlite:{folder / 'books.db'}"
        (folder / "air").mkdir(parents=True)
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self.display_port, self.till_port = free_port(), free_port()
        self.display = f"http://127.0.0.1:{self.display_port}/display"
        self.till = f"http://127.0.0.1:{self.till_port}/till"
        screens = {
            "display": f"127.0.0.1:{self.display_port}",
            "till": f"127.0.0.1:{self.till_port}",
        } | screens
        self.ctl_processes: list[Process] = []
        self.server_flags: list[str] = []
        """Additional options of the server."""
        self.wrapper: list[str] = []
        """A command that starts gotchud and gotchu-server, placed before their command lines."""
        self.kiosk = Daemon("kiosk", self, screens=screens, **kiosk)
        self.payer = Daemon("payer", self)

    @property
    def origins(self) -> list[str]:
        """The origins of all the shop's pages."""
        ports = (self._port, self.display_port, self.till_port)
        return [f"http://127.0.0.1:{port}/" for port in ports]

    def open(self) -> Shop:
        """Starts all programs."""
        self.start_server()
        self.start_daemons()
        return self

    def start_daemons(self) -> None:
        """Starts the daemons of kiosk and payer at the same time, and logs them in."""
        for daemon, place in ((self.kiosk, "0,0"), (self.payer, "0.05,0")):
            daemon.launch(place)
        for daemon in (self.kiosk, self.payer):
            daemon.wait()
            daemon.login()

    def start_server(self) -> None:
        self.server = Process(
            "server",
            [*self.wrapper, str(self.programs / "gotchu-server"), "serve", "--listen", f"127.0.0.1:{self._port}"]
            + ["--database", self.database, "--dev"]
            + ["--dev-opening-balance", str(OPENING_BALANCE)]
            + ["--web", "--public-url", self.url, *self.server_flags],
            self.folder / "server.log",
        )
        self.server.wait_until_it_says("listening on ")

    def login(self, email: str) -> Client:
        """Returns a client of the payment server, logged in as this user."""
        address = self.url.removeprefix("http://")
        token = Client(address).post("/auth/dev-login", {"email": email})["token"]
        return Client(address, token)

    def pay_new_request(self, amount_cents: int, **more: Any) -> dict[str, Any]:
        """Makes a request, pays it, and returns it."""
        request = self.kiosk.request(amount_cents, **more)
        self.payer.pay(request)
        eventually("the kiosk to report the payment", lambda: self.kiosk.request_state(request) == "paid")
        return request

    def pay_at_server(self, payee: Client, name: str, amount_cents: int = 100, memo: str = "") -> str:
        """Makes a payment of a new payer directly at the payment server. Returns the session's
        id."""
        payer = self.login(f"{name}@example.com")
        new = {"amount_cents": amount_cents} | ({"memo": memo} if memo else {})
        sid: str = payee.post("/sessions/create", new, Idempotency_Key=f"browser-create-{name}")["sid"]
        payer.post("/sessions/lock", {"sid": sid})
        payer.post("/wallet/send", {"sid": sid}, Idempotency_Key=f"browser-send-{name}")
        return sid

    def paid_at(self, request: dict[str, Any]) -> float:
        """Returns the ledger's time of a payment, in milliseconds since 1970."""
        paid = self.kiosk.client.get(f"/v1/requests/{request['id']}")["paid_at"]
        return datetime.fromisoformat(paid).timestamp() * 1_000

    def server_command(self, *arguments: str) -> None:
        """Runs a command of gotchu-server on the shop's ledger, and expects that it succeeds."""
        done = subprocess.run(
            [*self.wrapper, str(self.programs / "gotchu-server"), *arguments, "--database", self.database],
            capture_output=True,
            text=True,
            timeout=COMMAND_LIMIT,
        )
        expect(f"the exit status of {arguments} ({done.stdout} {done.stderr})", done.returncode, 0)

    def verify(self) -> None:
        """Verifies the ledger."""
        self.server_command("verify")

    def close(self) -> None:
        """Ends all programs that still run."""
        daemons = [getattr(part, "process", None) for part in (self.payer, self.kiosk)]
        for process in [*self.ctl_processes, *daemons, getattr(self, "server", None)]:
            if process and process.is_alive:
                process.kill()
