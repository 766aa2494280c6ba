"""bleak, listening on the same bus as its documentation shows. Ends with its standard input; prints
its number of EIDs."""

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
        # The least work of an application that looks for EIDs.
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
