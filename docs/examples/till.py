"""python3 till.py CENTS [MEMO]: requests a payment through gotchud and waits until it is paid.

Ctrl-C cancels the request. Ends with 0 if it was paid, with 1 if not, or if gotchud is away for a minute: then
the request may still be paid, which `gotchu-ctl history` tells. An example with the standard library alone: copy
what you need.
"""

import http.client
import json
import os
import signal
import socket
import sys
import time
import uuid

SOCKET = os.environ.get("GOTCHU_SOCKET", "/run/gotchu/gotchud.sock")
FINAL = ("paid", "expired", "cancelled")


class Connection(http.client.HTTPConnection):
    """HTTP over gotchud's Unix socket."""

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(SOCKET)


class Refused(Exception):
    """gotchud said no: a problem document, with a `code` for programs and a `detail` for people."""

    def __init__(self, problem):
        super().__init__(f"{problem.get('code')}: {problem.get('detail')}")
        self.problem = problem


def call(method, path, body=None, key=None):
    """Makes a call, and makes the same one again while there is no answer: a lost one says nothing."""
    headers = {"Content-Type": "application/json"}
    if key:
        # What makes the repeat of a call harmless: gotchud knows that it is the same wish.
        headers["Idempotency-Key"] = key
    data = None if body is None else json.dumps(body)
    end = time.monotonic() + 60
    while True:
        connection = Connection("gotchu", timeout=30)
        try:
            connection.request(method, path, data, headers)
            response = connection.getresponse()
            reply = json.loads(response.read())
            if response.status < 400:
                return reply
            if response.status not in (429, 503) or time.monotonic() > end:
                raise Refused(reply)
        except (OSError, http.client.HTTPException, ValueError):
            if time.monotonic() > end:
                raise
        finally:
            connection.close()
        time.sleep(1)


def main():
    cents = int(sys.argv[1])
    is_stopped = False

    def stop(*_):
        nonlocal is_stopped
        is_stopped = True

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)

    wish = {"amount_cents": cents}
    if len(sys.argv) > 2:
        wish["memo"] = sys.argv[2]
    request = call("POST", "/v1/requests", wish, key=str(uuid.uuid4()))
    path = f"/v1/requests/{request['id']}"
    print(f"{request['eid']}: waiting for {cents} cents, Ctrl-C cancels it", flush=True)

    is_cancelled = False
    while request["state"] not in FINAL:
        time.sleep(1)
        if is_stopped and not is_cancelled:
            is_cancelled = True
            try:
                call("DELETE", path)
            except Refused as refusal:
                print(refusal, flush=True)  # A payer holds it: how it ends is seen below.
        request = call("GET", path)
    # Goods are handed out for this word alone.
    print(request["state"], flush=True)
    return 0 if request["state"] == "paid" else 1


if __name__ == "__main__":
    sys.exit(main())
