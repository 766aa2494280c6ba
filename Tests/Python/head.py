"""Sends GET and then HEAD to each address of a server, and prints where the replies differ.

head.py PORT {"headers": {name: value}, "paths": [...]}: HEAD must have the status and the headers
of GET, no body, and an end: another request follows on the same connection. Prints a JSON object of
the differences by path.
"""

import json
import socket
import sys

PORT = int(sys.argv[1])
order = json.loads(sys.argv[2])
FIELDS = "".join(f"{name}: {value}\r\n" for name, value in order["headers"].items())
# Headers whose values are of a single reply.
OWN = {"date", "ratelimit", "ratelimit-policy"}
# The lengths of these pages change from one moment to the next.
CHANGING = {"/metrics"}


def connect(method, path, more=""):
    stream = socket.create_connection(("127.0.0.1", PORT), timeout=30)
    stream.sendall(f"{method} {path} HTTP/1.1\r\n{FIELDS}\r\n{more}".encode())
    return stream


def read(stream, is_over):
    text = b""
    while not is_over(text):
        piece = stream.recv(65536)
        if not piece:
            break
        text += piece
    return text


def head(text, path):
    """Returns the status, and the headers that both replies must have."""
    lines = text.decode(errors="replace").split("\r\n")
    fields = [line.partition(": ") for line in lines[1:]]
    left = OWN | ({"content-length"} if path in CHANGING else set())
    return lines[0], sorted(
        (name.lower(), "" if name.lower() in left else value) for name, _, value in fields
    )


differences = {}
for path in order["paths"]:
    got = read(connect("GET", path), lambda text: b"\r\n\r\n" in text).partition(b"\r\n\r\n")[0]
    follower = f"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    replies = read(connect("HEAD", path, follower), lambda text: False)
    first, _, rest = replies.partition(b"\r\n\r\n")
    one, other = head(got, path), head(first, path)
    if one != other:
        differences[path] = f"{one} {other}"
    elif not rest.startswith(b"HTTP/1.1 200 OK\r\n"):
        differences[path] = f"HEAD has a body or no end: {rest[:200]}"
print(json.dumps(differences))
