"""`python3 -m air`: opens the controllers, prints `air ready`, and carries adverts until it is
killed."""

from __future__ import annotations

import argparse
import os
import select
import socket
from collections.abc import Callable
from random import Random
from time import monotonic

from .advert import address
from .control import Control
from .controller import ADVERTISING_SETS, Controller
from .medium import Medium
from .scheduler import Scheduler

# The packet that makes the driver (drivers/bluetooth/hci_vhci.c) create a primary controller.
CREATE_CONTROLLER = b"\xff\x00"
VENDOR_PACKET = 0xFF

PACKET_LIMIT = 2048
LINE_LIMIT = 65536


class Loop:
    """Waits for file descriptors and due timers, and handles them on one thread."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._poll = select.epoll()
        self._readers: dict[int, Callable[[], None]] = {}

    def watch(self, descriptor: int, reader: Callable[[], None]) -> None:
        self._readers[descriptor] = reader
        self._poll.register(descriptor, select.EPOLLIN)

    def forget(self, descriptor: int) -> None:
        del self._readers[descriptor]
        self._poll.unregister(descriptor)

    def run(self) -> None:
        while True:
            self._scheduler.run_due()
            due = self._scheduler.next_due()
            wait = None if due is None else max(0.0, due - self._scheduler.clock())
            for descriptor, _ in self._poll.poll(wait):
                reader = self._readers.get(descriptor)
                if reader is not None:
                    reader()


def open_controller(
    index: int, medium: Medium, loop: Loop, is_extended: bool, slots: int = ADVERTISING_SETS
) -> Controller:
    """Makes a controller `cN` with the address 02:AA:00:00:00:NN.

    The kernel gives the controller the lowest free number: `hciN` if the controllers are opened in
    order.
    """
    descriptor = os.open("/dev/vhci", os.O_RDWR)

    def send(packet: bytes) -> None:
        try:
            os.write(descriptor, packet)
        except OSError:
            # The kernel refuses reports while it shuts the controller down.
            pass

    def receive() -> None:
        packet = os.read(descriptor, PACKET_LIMIT)
        if packet and packet[0] != VENDOR_PACKET:
            controller.handle(packet)

    def unplug() -> None:
        loop.forget(descriptor)
        os.close(descriptor)

    controller = Controller(
        f"c{index}",
        address(f"02:AA:00:00:00:{index:02X}"),
        medium,
        send,
        is_extended,
        unplug,
        slots,
    )
    medium.receivers.append(controller)
    loop.watch(descriptor, receive)
    os.write(descriptor, CREATE_CONTROLLER)
    return controller


def serve(path: str, control: Control, loop: Loop) -> None:
    """Answers commands on a Unix socket."""
    if os.path.exists(path):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()

    def accept() -> None:
        connection, _ = listener.accept()
        waiting = bytearray()

        def read() -> None:
            received = connection.recv(LINE_LIMIT)
            waiting.extend(received)
            while b"\n" in waiting:
                line, _, rest = bytes(waiting).partition(b"\n")
                waiting[:] = rest
                connection.sendall(control.answer(line))
            if not received or len(waiting) > LINE_LIMIT:
                loop.forget(connection.fileno())
                connection.close()

        loop.watch(connection.fileno(), read)

    loop.watch(listener.fileno(), accept)


def main() -> None:
    parser = argparse.ArgumentParser(prog="air", description="Virtual Bluetooth LE controllers.")
    parser.add_argument("--controllers", type=int, default=2, metavar="N")
    parser.add_argument("--socket", default="/run/air.sock", metavar="PATH")
    parser.add_argument("--legacy", action="store_true", help="4.2, without extended advertising")
    parser.add_argument("--seed", type=int, help="makes noise, loss and jitter repeatable")
    options = parser.parse_args()

    scheduler = Scheduler(monotonic)
    medium = Medium(scheduler, Random(options.seed))
    loop = Loop(scheduler)
    controllers = [
        open_controller(index, medium, loop, not options.legacy)
        for index in range(options.controllers)
    ]
    def plug(index: int, slots: int) -> Controller:
        return open_controller(index, medium, loop, not options.legacy, slots)

    serve(options.socket, Control(medium, controllers, plug), loop)
    print("air ready", flush=True)
    loop.run()


if __name__ == "__main__":
    main()
