"""gotchud as it is shipped, and its use of resources."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def cpu_seconds(process: int) -> float:
    """Returns the CPU time of all threads of a process, with a resolution of nanoseconds
    (clock_getcpuclockid(3))."""
    return time.clock_gettime(~process << 3 | 2)


def status(process: int, name: str) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    raise KeyError(name)


def resident_mib(process: int) -> float:
    return status(process, "VmRSS") / 1024


def wakeups(process: int) -> dict[str, int]:
    """Returns the number of voluntary context switches of each thread."""
    counts = {}
    for task in Path(f"/proc/{process}/task").iterdir():
        # A thread may end during the read.
        with suppress(FileNotFoundError, ProcessLookupError):
            for line in (task / "status").read_text().splitlines():
                if line.startswith("voluntary_ctxt_switches:"):
                    counts[task.name] = int(line.split()[1])
    return counts


class PaymentServer:
    """A server that reports good health. gotchud makes no other call in this benchmark."""

    def __init__(self) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body = b'{"status":"ready"}'
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: object) -> None:
                """Ignores the error of a daemon that ends during a call."""

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"


class Daemon:
    """A gotchud in its own folder. The end of a `with` statement ends it."""

    def __init__(
        self, program: str, folder: Path, bus: str, server: str, radio: str, **more: str
    ) -> None:
        folder.mkdir()
        self.socket = folder / "gotchud.sock"
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(str(folder / "notify"))
        notify.settimeout(20)
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("GOTCHU")
        }
        environment |= {
            "DBUS_SYSTEM_BUS_ADDRESS": bus,
            "NOTIFY_SOCKET": str(folder / "notify"),
            "GOTCHU_LISTEN": "always",
        } | more
        self._log = (folder / "log").open("wb")
        begin = time.monotonic()
        self._process = subprocess.Popen(
            [program, "--socket", str(self.socket), "--state", str(folder / "state")]
            + ["--server", server, "--radio", radio],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )
        while b"READY=1" not in notify.recv(4096):
            pass
        self.ready_ms = (time.monotonic() - begin) * 1000
        notify.close()
        self.pid = self._process.pid

    def __enter__(self) -> Daemon:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
