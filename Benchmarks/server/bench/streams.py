"""Measures idle streams: the memory for clients that wait for a change of their session."""

import resource
import select
import socket
import time

from . import machine


def open_files(count):
    """Raises the limit of open files of this process and its children, if the system permits it.

    Returns the number of streams that the limit permits, at most `count`.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + 500
    if hard < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
            return count
        except (ValueError, PermissionError):
            wanted = hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    return min(count, wanted - 500)


def measure(server, users, tokens, first, count):
    """Opens `count` streams, each for its own session, and measures the server before and after.

    Returns the numbers of open and refused streams, the MiB before and after, and the CPU seconds
    per second while nothing happens.
    """
    before = machine.resident(server.root)
    streams, refused = [], 0
    deadline = time.monotonic() + 180
    for start in range(0, count, 200):
        group = [follow(server.port, index, first + index, users, tokens)
                 for index in range(start, min(start + 200, count))]
        for stream in group:
            if is_open(stream, deadline):
                streams.append(stream)
            else:
                refused += 1
                stream.close()
        if refused > 50:
            break
    after = machine.resident(server.root)
    used = machine.cpu(server.root)
    time.sleep(2)
    used = machine.cpu(server.root) - used
    for stream in streams:
        stream.close()
    return {"streams": len(streams), "refused": refused, "before_mib": before,
            "after_mib": after, "idle_cpu_seconds": used / 2}


def follow(port, index, number, users, tokens):
    # The payee of the n-th session, by seed.py's rule for uniform payments.
    payee = (number % users + 1 + (number // users) % (users - 1)) % users
    stream = socket.socket()
    stream.bind((f"127.3.{index // 250}.{index % 250 + 1}", 0))
    stream.connect(("127.0.0.1", port))
    stream.sendall(
        f"GET /sessions/00000000-0000-7000-8000-{number:012x}/events HTTP/1.1\r\n"
        f"Host: 127.0.0.1\r\nAuthorization: Bearer {tokens[payee]}\r\n\r\n".encode())
    return stream


def is_open(stream, deadline):
    """Waits for the session's state, which the server sends at once. Returns true if it arrived."""
    received = b""
    while b"\ndata: " not in received:
        ready = wait(stream, deadline)
        part = stream.recv(4096) if ready else b""
        if not part or b"HTTP/1.1 4" in part or b"HTTP/1.1 5" in part:
            return False
        received += part
    return True


def wait(stream, deadline):
    poll = select.poll()
    poll.register(stream, select.POLLIN)
    return poll.poll(max(0, deadline - time.monotonic()) * 1000)
