"""Actions on adapters directly in the kernel, as other programs or a key of the keyboard cause
them."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from pathlib import Path

AF_BLUETOOTH, BTPROTO_HCI = 31, 1
NO_ADAPTER, CONTROL_CHANNEL = 0xFFFF, 3
READ_ADDRESS = bytes((0x01, 0x09, 0x10, 0x00))
SET_POWERED, STOP_DISCOVERY = 0x0005, 0x0024
LE_ADDRESSES = 0x06

RFKILL_BLUETOOTH, RFKILL_CHANGE_ALL = 2, 3


def set_powered(index: int, is_on: bool) -> None:
    _manage(index, SET_POWERED, bytes((is_on,)))


def stop_discovery(index: int) -> None:
    """Ends a scan that bluetoothd has started, without bluetoothd's knowledge."""
    _manage(index, STOP_DISCOVERY, bytes((LE_ADDRESSES,)))


def ask(index: int) -> None:
    """Sends a controller the command to read its address (Core Specification 5.3, Vol 4 Part E,
    7.4.6), and does not wait for the answer."""
    with socket.socket(AF_BLUETOOTH, socket.SOCK_RAW, BTPROTO_HCI) as controller:
        controller.bind((index,))
        controller.send(READ_ADDRESS)


def block_radios(is_blocked: bool) -> None:
    """Soft-blocks or unblocks every Bluetooth adapter (include/uapi/linux/rfkill.h)."""
    event = struct.pack("<IBBBB", 0, RFKILL_BLUETOOTH, RFKILL_CHANGE_ALL, is_blocked, 0)
    device = Path("/dev/rfkill")
    descriptor = os.open(device, os.O_WRONLY)
    try:
        os.write(descriptor, event)
    finally:
        os.close(descriptor)


def _manage(index: int, command: int, parameters: bytes) -> None:
    """Sends a command of the management interface (BlueZ, doc/mgmt-api.txt), and waits for its
    answer.

    The socket is bound with libc, because Python's own bind does not support channels.
    """
    with socket.socket(AF_BLUETOOTH, socket.SOCK_RAW, BTPROTO_HCI) as control:
        address = struct.pack("<HHH", AF_BLUETOOTH, NO_ADAPTER, CONTROL_CHANNEL)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.bind(control.fileno(), address, len(address)) != 0:
            raise OSError(ctypes.get_errno(), "bind to the management channel")
        control.settimeout(30)
        control.send(struct.pack("<HHH", command, index, len(parameters)) + parameters)
        while True:
            event, about, _ = struct.unpack_from("<HHH", answer := control.recv(2048))
            # The events Command Complete and Command Status.
            if event in (1, 2) and about == index:
                opcode, status = struct.unpack_from("<HB", answer, 6)
                if opcode == command:
                    if status != 0:
                        raise OSError(f"the kernel answers {command:#06x} with {status:#04x}")
                    return
