"""bleak, which listens on the same bus, used as its documentation shows. For each line of its
standard input, prints the number of heard adverts with an EID since the line before. Ends with its
input."""

from __future__ import annotations

import asyncio
import json
import sys
from importlib.metadata import version
from typing import Any

from bleak import BleakScanner

FEED = "0000feed-0000-1000-8000-00805f9b34fb"


async def main() -> None:
    heard = 0

    def detected(device: Any, advertisement: Any) -> None:
        nonlocal heard
        # This is the least work that an application does to find EIDs.
        if len(advertisement.service_data.get(FEED, b"")) == 10:
            heard += 1

    scanner = BleakScanner(detected, service_uuids=[FEED])
    await scanner.start()
    print(json.dumps({"ready": True, "version": version("bleak")}), flush=True)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps({"heard": heard}), flush=True)
        heard = 0
    await scanner.stop()


asyncio.run(main())
