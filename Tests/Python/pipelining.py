"""pipelining PORT: sends many requests on one connection before it reads, and prints what came of them as JSON.

unread: the replies that the server wrote while nothing was read. whole: the complete replies after everything was
read, by a client that had closed its sending side. overtaken: the replies that a connection with many requests had when both connections that sent one
request later were answered.
"""

import json
import re
import select
import socket
import sys
import time
import urllib.request

PORT = int(sys.argv[1])
DOCUMENTS = 500
MISSES = 1_500


def connect() -> socket.socket:
    client = socket.socket()
    # The kernel's buffers would hide that nothing is read.
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
    client.settimeout(60)
    client.connect(("127.0.0.1", PORT))
    return client


def documents_written() -> float:
    page = urllib.request.urlopen(f"http://127.0.0.1:{PORT}/metrics", timeout=60).read().decode()
    counts = [
        line for line in page.splitlines() if line.startswith("gotchu_server_http_requests_total") and "openapi" in line
    ]
    return sum(float(line.split()[-1]) for line in counts)


def unread() -> tuple[float, int]:
    client = connect()
    client.sendall(b"GET /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n" * DOCUMENTS)
    written, before = documents_written(), -1.0
    while written != before:
        time.sleep(1)  # Nothing reports that the server has stopped writing.
        written, before = documents_written(), written
    client.shutdown(socket.SHUT_WR)
    replies = b"".join(iter(lambda: client.recv(1 << 20), b""))
    whole, place = 0, 0
    while (start := replies.find(b"\r\n\r\n", place) + 4) > 3:
        length = re.search(rb"(?i)content-length: (\d+)", replies[place:start])
        place = start + int(length[1])
        whole += replies.startswith(b"openapi: 3.1", start) and place <= len(replies)
    return written, whole


def overtaken() -> int:
    many = connect()
    # The server serves connections on two threads in turns, so one of these shares a thread with `many`.
    others = {connect(), connect()}
    many.sendall(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n" * MISSES)
    for other in others:
        other.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    answered, rest = 0, b""
    while others:
        readable = select.select([many, *others], [], [], 60)[0]
        others -= set(readable)
        # What has arrived by now was written before the other replies, or just after.
        while select.select([many], [], [], 0)[0]:
            rest += many.recv(1 << 20)
        answered += rest.count(b"HTTP/1.1 404")
        rest = rest[-11:]
    return answered


written, whole = unread()
print(json.dumps({"unread": written, "whole": whole, "overtaken": overtaken()}))
