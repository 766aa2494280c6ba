"""The display's own page with scripted views, for states that are rare in a shop."""

from __future__ import annotations

import functools
import http.client
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, Queue
from threading import Lock, Thread
from time import sleep

from .shop import Shop

FEED = "/v1/display/events"
OWN = ("connection", "content-length", "date", "server", "transfer-encoding")
"""Headers of gotchud's replies that are not passed on. This server sets its own."""
HUNG_UP = None


class Stage:
    """A server that passes on gotchud's answers with their headers. Only the feed is scripted."""

    def __init__(self, shop: Shop) -> None:
        self.requested_paths: list[str] = []
        self._readers: set[Queue[bytes | None]] = set()
        self._last = b""
        self._lock = Lock()
        self._port = shop.display_port
        stage = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                stage.requested_paths.append(self.path)
                status, headers, body = stage.fetch(self.path)
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                if self.path == FEED:
                    self.end_headers()
                    stage.feed(self.wfile)
                else:
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/display"

    @functools.cache
    def fetch(self, path: str) -> tuple[int, list[tuple[str, str]], bytes]:
        """Returns gotchud's status, headers and body, without the headers in OWN."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
        try:
            connection.request("GET", path)
            reply = connection.getresponse()
            headers = [(name, value) for name, value in reply.getheaders() if name.lower() not in OWN]
            return reply.status, headers, b"" if path == FEED else reply.read()
        finally:
            connection.close()

    def feed(self, out: object) -> None:
        """Writes the lines to one reader until the connection ends. After each 3 s without a new
        line, repeats the last one."""
        queue: Queue[bytes | None] = Queue()
        with self._lock:
            if self._last:
                queue.put(self._last)
            self._readers.add(queue)
        try:
            while True:
                try:
                    line = queue.get(timeout=3)
                except Empty:
                    line = self._last
                if line is HUNG_UP:
                    return
                out.write(line)  # type: ignore[attr-defined]
                out.flush()  # type: ignore[attr-defined]
        except OSError:
            return
        finally:
            with self._lock:
                self._readers.discard(queue)

    @property
    def readers(self) -> int:
        with self._lock:
            return len(self._readers)

    def say(self, *lines: str, pause: float = 0) -> None:
        """Sends lines to all readers. The last line is repeated as heartbeat, and is the first line
        of a new reader.

        `pause` is the time after each line, in seconds.
        """
        for line in lines:
            with self._lock:
                self._last = line.encode() + b"\n"
                for reader in self._readers:
                    reader.put(self._last)
            if pause:
                sleep(pause)

    def hang_up(self) -> None:
        """Ends all readers' connections."""
        with self._lock:
            for reader in self._readers:
                reader.put(HUNG_UP)

    def close(self) -> None:
        self.hang_up()
        self._server.shutdown()
        self._server.server_close()
