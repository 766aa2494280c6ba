"""pipelining PORT: sends many requests on each connection before it reads, and prints what came of them as JSON.

unread: the replies that the server wrote while nothing was read. whole: the complete replies after everything was
read, by a client that had closed its sending side. overtaken: the replies that connections with many requests had
when two connections that sent one request later were answered.
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
    # The server serves connections on two threads in turns: each gets two of these, and one of the others.
    greedy = {connect() for _ in range(4)}
    others = {connect(), connect()}
    for client in greedy:
        client.sendall(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n" * MISSES)
    for other in others:
        other.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    replies = dict.fromkeys(greedy, b"")
    while others:
        readable = select.select([*greedy, *others], [], [], 60)[0]
        others -= set(readable)
        # What has arrived by now was written before the other replies, or just after.
        while ready := select.select(greedy, [], [], 0)[0]:
            for client in ready:
                replies[client] += client.recv(1 << 20)
    return sum(text.count(b"HTTP/1.1 404") for text in replies.values())


written, whole = unread()
print(json.dumps({"unread": written, "whole": whole, "overtaken": overtaken()}))
