"""A web server of the test, whose pages are foreign to our programs."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class Origin:
    """Serves the given pages by path, all with the same headers."""

    def __init__(self, pages: dict[str, str], **headers: str) -> None:
        self.pages = pages
        origin = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                page = origin.pages.get(self.path.partition("?")[0])
                body = (page or "").encode()
                self.send_response(200 if page else 404)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
