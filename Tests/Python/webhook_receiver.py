"""A merchant's web server that receives webhooks and verifies them with the library of Standard
Webhooks. Prints its port, then one JSON object for each request.

webhook_receiver.py SECRETS: SECRETS is a JSON file with the secret of each path. The path selects
the answer: /ok 200; /flaky 503 twice, then 200; /gone 410; /redirect 302 to /elsewhere; /dead 500;
/slow 200 after a minute; /together 200, from the ninth request on only when eight requests are
waiting; /mended 503 four times, then 200 after 0.1 s.
"""
import http.server
import json
import sys
import threading
import time

from standardwebhooks.webhooks import Webhook

seen = {}
running = {}
lock = threading.Lock()
eight = threading.Barrier(8)


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            secret = json.load(open(sys.argv[1]))[self.path]
            Webhook(secret).verify(body, dict(self.headers.items()))
            verified = True
        except Exception as error:  # Any error means that the request is not verified.
            verified = repr(error)
        with lock:
            seen[self.path] = seen.get(self.path, 0) + 1
            count = seen[self.path]
            running[self.path] = running.get(self.path, 0) + 1
            print(json.dumps({
                "path": self.path, "id": self.headers["webhook-id"], "verified": verified,
                "body": body.decode(), "running": running[self.path],
            }), flush=True)
        if self.path == "/slow":
            threading.Event().wait(60)
        if self.path == "/together" and count > 8:
            eight.wait()
        status = {"/gone": 410, "/redirect": 302, "/dead": 500}.get(self.path, 200)
        if self.path == "/flaky" and count <= 2 or self.path == "/mended" and count < 5:
            status = 503
        elif self.path == "/mended":
            time.sleep(0.1)
        with lock:
            running[self.path] -= 1
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        print(json.dumps({"path": self.path, "verified": "a GET"}), flush=True)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
server.daemon_threads = True
print(f"port {server.server_address[1]}", flush=True)
server.serve_forever()
