"""Clients that a server must survive: clients that are slow, send endless or too large data, or do
not speak HTTP.

rude.py PORT: runs all clients at once. Prints a JSON object with each client's reply, its duration
and a Boolean `closed` that is true if the server ended the connection.
"""

import json
import socket
import sys
import threading
import time

PORT = int(sys.argv[1])
# Seconds; longer than all time limits of the server, even on a busy machine.
PATIENCE = 60
results = {}


def connect():
    client = socket.create_connection(("127.0.0.1", PORT), timeout=PATIENCE)
    client.settimeout(0.5)
    return client


def play(name, first, drip=b""):
    """Sends `first`, then `drip` after each half second without data, and reads to the end."""
    began = time.monotonic()
    client = connect()
    reply = b""
    is_closed = False
    try:
        client.sendall(first)
        while time.monotonic() - began < PATIENCE:
            try:
                piece = client.recv(65536)
            except TimeoutError:
                if drip:
                    client.sendall(drip)
                continue
            if not piece:
                is_closed = True
                break
            reply += piece
    except (BrokenPipeError, ConnectionResetError):
        is_closed = True
    results[name] = {
        "status": reply.split(b" ")[1].decode() if reply.startswith(b"HTTP/1.") else "",
        "closed": is_closed,
        "seconds": time.monotonic() - began,
        "reply": reply.decode(errors="replace"),
    }


def post(length, more=b""):
    return (b"POST /sessions/resolve HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n%s\r\n" % (length, more))


CLOSE = b"Connection: close\r\n"
CHUNKED = (b"POST /sessions/resolve HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
           b"Transfer-Encoding: chunked\r\n\r\n")
CASES = {
    "silent": (b"",),
    "half-head": (b"GET /healthz HTTP/1.1\r\nHost: x\r\n",),
    "dripping-head": (b"GET /healthz HTTP/1.1\r\nHost: x\r\n", b"X: y\r\n"),
    "half-body": (post(20) + b'{"eid"',),
    "dripping-body": (post(60_000), b" "),
    "long-field": (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 20_000 + b"\r\n\r\n",),
    "many-fields": (b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 300 + b"\r\n",),
    "long-target": (b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",),
    "blank-field": (
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX:" + b" " * 400_000 + b"x\r\n\r\n",
    ),
    "blank-trailer": (CHUNKED + b"0\r\nX:" + b"\t" * 400_000 + b"x\r\n\r\n",),
    "byte-chunks": (CHUNKED + b"1\r\n \r\n" * 100_000,),
    "large-body": (post(70_000, CLOSE) + b" " * 70_000,),
    "endless-body": (
        b"POST /sessions/resolve HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        + CLOSE + b"Transfer-Encoding: chunked\r\n\r\n" + (b"4000\r\n" + b" " * 16384 + b"\r\n") * 6
        + b"0\r\n\r\n",
    ),
    "no-http": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200 + b"\r\n\r\n",),
    "nul-in-field": (
        b"GET /wallet/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\x00b\r\n" + CLOSE + b"\r\n",
    ),
    "no-version": (b"GET /healthz\r\nHost: x\r\n\r\n",),
    "no-target": (b"GET  HTTP/1.1\r\nHost: x\r\n\r\n",),
    "space-in-name": (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX Y: z\r\n\r\n",),
    "no-length": (b"POST /sessions/resolve HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",),
    "bad-chunk": (CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n",),
    "bad-chunk-later": (CHUNKED + b"1\r\n{\r\nzz\r\n}\r\n0\r\n\r\n",),
    "bad-chunk-unread-body": (
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ),
    "nonsense-behind": (b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 2 + b"nonsense\r\n\r\n",),
    "garbage-after-close": (
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + CLOSE + b"\r\nnonsense\r\n\r\n",
    ),
    "two-lengths": (
        b"POST /sessions/resolve HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
        b"Content-Length: 20\r\n\r\n{}",
    ),
    "length-and-chunks": (
        b"POST /sessions/resolve HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
        b"Transfer-Encoding: chunked\r\n" + CLOSE + b"\r\n0\r\n\r\n",
    ),
    "no-host": (b"GET /healthz HTTP/1.1\r\n\r\n",),
    "two-hosts": (b"GET /healthz HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n",),
    "half-a-host": (b"GET /healthz HTTP/1.1\r\nHost: x/y@z\r\n\r\n",),
    "no-host-behind": (b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n",),
    "old": (b"GET /healthz HTTP/1.0\r\n\r\n",),
    "old-and-stays": (b"GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" * 2,),
    "close-in-list": (b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: x, Close\r\n\r\n" * 2,),
    "unbounded": (post(2**64 - 1, CLOSE),),
    "half-body-behind": (b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 2 + post(20),),
    "upgrade": (
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: foo\r\n\r\n",
        b"x" * 65536,
    ),
    "connect": (b"CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n", b"x" * 65536),
    "compressed": (post(2, CLOSE + b"Content-Encoding: gzip\r\n") + b"{}",),
    "expect-continue": (post(2, CLOSE + b"Expect: 100-continue\r\n"), b"{}"),
    "head": (b"HEAD /wallet/me HTTP/1.1\r\nHost: x\r\n" + CLOSE + b"\r\n",),
    "honest": (b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + CLOSE + b"\r\n",),
}

threads = [threading.Thread(target=play, args=(name, *case)) for name, case in CASES.items()]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(results))
