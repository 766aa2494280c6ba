"""A client that sends given texts over a plain socket.

raw.py PORT PLAN: PLAN is JSON. `pieces` are the texts, which are sent 0.3 s after each other.
`replies` is the number of replies to wait for. `half` is true if the client closes its sending side
after the last piece. Prints the replies as JSON.
"""

import json
import socket
import sys
import time

PATIENCE = 30
PAUSE = 0.3


def reply(stream):
    status = stream.readline().split(b" ")
    if len(status) < 2:
        return None
    headers = {}
    while line := stream.readline().strip().decode():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = stream.read(int(headers.get("content-length", 0)))
    return {"status": int(status[1]), "headers": headers, "body": body.decode()}


plan = json.loads(sys.argv[2])
client = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=PATIENCE)
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for index, piece in enumerate(plan["pieces"]):
    if index:
        time.sleep(PAUSE)
    client.sendall(piece.encode())
if plan["half"]:
    client.shutdown(socket.SHUT_WR)
stream = client.makefile("rb")
print(json.dumps([reply(stream) for _ in range(plan["replies"])]))
