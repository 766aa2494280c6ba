"""Compares what combining marks and as many ASCII bytes cost a server.

marks.py PLAN: PLAN is the path of a JSON file. `pid` is the server's process and `address` its port
or its Unix socket. `routes` are methods and paths, with `{}` for an id. `headers` are sent with
each request. `form` begins each form; if it is empty, bodies are JSON. `strings`, `integers`,
`fields` and `parameters` are the names of the server's members of bodies, form fields and query
parameters.

Each request with marks is measured in nanoseconds of the server's CPU. One that takes more than
four times as long as its ASCII twin is repeated: the sums of 20 calls are compared. Prints what is
too slow, and the number of requests, as JSON.
"""

import ctypes
import functools
import json
import socket
import sys
import time
import unicodedata

FACTOR = 4
REPEATS = 20
BODY = 60_000
# Long enough to show the square of a text's length, where a kind is sent again in another place.
PART = 12_000
HEAD = 12_000
ESCAPES = 3_000
HEADERS = [
    "Accept", "Accept-Language", "Authorization", "Connection", "Content-Encoding", "Content-Type",
    "Cookie", "Expect", "Forwarded", "Idempotency-Key", "If-None-Match", "Last-Event-ID", "Origin",
    "Priority", "Referer", "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site", "Stripe-Signature",
    "Upgrade", "X-Forwarded-For", "X-Request-ID", "X-Unknown",
]

MARKS = sorted(
    (chr(value) for value in range(0x300, 0x800) if unicodedata.combining(chr(value))),
    key=unicodedata.combining,
    reverse=True,
)


@functools.cache
def falling(size):
    """Marks whose combining classes fall: the worst for a sort by insertion."""
    count = (size - 1) // 2
    return "a" + "".join(MARKS[index * len(MARKS) // count] for index in range(count))


@functools.cache
def clusters(size):
    """The worst of the texts that may be accepted: 30 marks on each letter."""
    return (falling(61) * (size // 61 + 1))[: size // 2]


@functools.cache
def escaped(text):
    return "".join(f"%{byte:02X}" for byte in text.encode())


@functools.cache
def unit_escaped(text):
    return "".join(f"\\u{ord(character):04x}" for character in text)


plan = json.load(open(sys.argv[1]))
clock = ctypes.c_int()
assert ctypes.CDLL(None).clock_getcpuclockid(plan["pid"], ctypes.byref(clock)) == 0


def connect():
    address = plan["address"]
    if address.startswith("/"):
        client = socket.socket(socket.AF_UNIX)
        client.connect(address)
    else:
        client = socket.create_connection(("127.0.0.1", int(address)))
    client.settimeout(60)
    return client


def request(route, body=None, more=(), query=b"", part="x"):
    method, path = route
    fields = dict(plan["headers"])
    fields["Connection"] = "close"
    if body is not None:
        fields["Content-Length"] = str(len(body))
    for name, value in more:
        fields[name] = value
    head = f"{method} {path.replace('{}', part)}".encode() + query + b" HTTP/1.1\r\n"
    for name, value in fields.items():
        head += name.encode() + b": " + (value if isinstance(value, bytes) else value.encode())
        head += b"\r\n"
    return head + b"\r\n" + (body or b"")


def cost(request):
    """Returns the CPU time from the request to the end of its reply, and the status."""
    with connect() as client:
        start = time.clock_gettime_ns(clock.value)
        reply = b""
        try:
            client.sendall(request)
            while b"\r\n\r\n" not in reply and (piece := client.recv(65536)):
                reply += piece
            head, _, rest = reply.partition(b"\r\n\r\n")
            length = 0
            for line in head.lower().split(b"\r\n"):
                if line.startswith(b"content-length:"):
                    length = int(line[15:])
            while len(rest) < length and (piece := client.recv(65536)):
                rest += piece
        except ConnectionError:
            pass
        return time.clock_gettime_ns(clock.value) - start, reply[9:12].decode()


slow = []
count = 0
statuses = {}


class Twin:
    """A request in ASCII."""

    def __init__(self, request):
        self.request = request
        self.once = min(cost(request)[0] for _ in range(3))

    @functools.cached_property
    def sum(self):
        return sum(cost(self.request)[0] for _ in range(REPEATS))


def compare(route, kind, text, plain):
    """Compares a request with its ASCII twin."""
    global count
    count += 1
    took, status = cost(text)
    statuses[status] = statuses.get(status, 0) + 1
    # A single call may be slow because the machine is busy, so there are two more.
    limit = FACTOR * plain.once
    if took <= limit or any(cost(text)[0] <= limit for _ in range(2)):
        return
    total = 0
    for _ in range(REPEATS):
        total += cost(text)[0]
        # One call that takes seconds need not be repeated.
        if total > 5_000_000_000:
            break
    if total > FACTOR * plain.sum:
        slow.append([*route, kind, status, total // 1000, plain.sum // 1000])


def members(name, value, others=()):
    text = "".join(f'"{other}":500,' for other in others)
    return f'{{{text}"{name}":"{value}"}}'.encode()


def bodies(route):
    more = [("Content-Type", "application/json")]

    def send(kind, body, plain):
        compare(route, kind, request(route, body, more), plain)

    plain = Twin(request(route, f'{{"{"a" * BODY}":1}}'.encode(), more))
    send("name", f'{{"{falling(BODY)}":1}}'.encode(), plain)
    send("clusters in a name", f'{{"{clusters(BODY)}":1}}'.encode(), plain)
    send("escaped name", f'{{"{unit_escaped(falling(BODY // 3))}":1}}'.encode(), plain)
    send("no UTF-8", b'{"' + b"\xcc" * BODY + b'":1}', plain)
    short = "".join(f',"{index}":1' for index in range(800))
    twin = f'{{"{"a" * (BODY - 8_000)}":1{short}}}'.encode()
    plain = Twin(request(route, twin, more))
    send("names", f'{{"{falling(BODY - 8_000)}":1{short}}}'.encode(), plain)
    many = ",".join(f'"\u0344{index}\u0316":1' for index in range(4_000))
    twin = ",".join(f'"aa{index}aa":1' for index in range(4_000))
    plain = Twin(request(route, f"{{{twin}}}".encode(), more))
    send("many names", f"{{{many}}}".encode(), plain)
    plain = Twin(request(route, members("unknown", "a" * BODY), more))
    send("member", members("unknown", falling(BODY), plan["integers"]), plain)
    plain = Twin(request(route, members("unknown", "a" * PART), more))
    for name in plan["strings"]:
        # Some members are read only after others, and some only if there are no others.
        for others in [(), plan["integers"]]:
            send(name, members(name, falling(PART), others), plain)
            send(f"clusters in {name}", members(name, clusters(PART), others), plain)


def forms(route):
    size = BODY // 2

    def form(text):
        more = [("Content-Type", "application/x-www-form-urlencoded")]
        return request(route, (plan["form"] + text).encode(), more)

    plain = Twin(form(f"unknown={'a' * size}"))
    compare(route, "value", form(f"unknown={falling(size)}"), plain)
    plain = Twin(form(f"unknown={'a' * PART}"))
    for name in plan["fields"]:
        compare(route, f"field {name}", form(f"{name}={falling(PART)}"), plain)
        compare(route, f"clusters in field {name}", form(f"{name}={clusters(PART)}"), plain)
    compare(route, "field", form(f"{falling(size)}=1"), plain)
    plain = Twin(form(f"{'%61' * (size // 3)}=1"))
    compare(route, "escaped field", form(f"{escaped(falling(size // 3))}=1"), plain)


def heads(route):
    plain = Twin(request(route, more=[("X-Unknown", "a" * HEAD)]))
    for name in HEADERS:
        value = (b"100-continue" if name == "Expect" else b"") + falling(HEAD).encode()
        compare(route, name, request(route, more=[(name, value)]), plain)
    # The escapes of letters would be decoded at once, and the twin would be a third as long.
    plain = Twin(request(route, query=b"?a=" + b"%21" * ESCAPES))
    for name in plan["parameters"]:
        query = f"?{name}=".encode()
        compare(route, f"?{name}", request(route, query=query + falling(HEAD).encode()), plain)
        text = request(route, query=query + escaped(falling(ESCAPES)).encode())
        compare(route, f"escaped ?{name}", text, plain)
    text = request(route, query=b"?a=" + escaped(clusters(ESCAPES)).encode())
    compare(route, "escaped clusters in the query", text, plain)
    text = escaped(falling(ESCAPES))
    compare(route, "escaped name in the query", request(route, query=f"?{text}=1".encode()), plain)
    if "{}" in route[1]:
        plain = Twin(request(route, part="%21" * ESCAPES))
        compare(route, "escaped path", request(route, part=text), plain)
        compare(route, "path", request(route, part=falling(HEAD)), plain)


# The first text that is not ASCII takes longer: the server makes its table of marks.
cost(request(("POST", "/"), b"{}", [("Cookie", "\u0300".encode())]))
for route in plan["routes"]:
    heads(route)
    if route[0] in ("POST", "PUT"):
        forms(route) if plan["form"] else bodies(route)
print(json.dumps({"slow": slow, "count": count, "statuses": statuses}))
