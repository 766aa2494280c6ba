"""Runs every scenario, or those that are named, and writes OUT/results.json."""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from pathlib import Path
from time import monotonic
from typing import Any

from .scenario import run
from .scenarios import ORDER
from .stack import Platform, Server


def uptime() -> float:
    return float(Path("/proc/uptime").read_text().split()[0])


def main() -> int:
    parser = argparse.ArgumentParser(prog="guest", description="Payment stories on a real stack.")
    parser.add_argument("--programs", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    options = parser.parse_args()

    results: dict[str, Any] = {"scenarios": [], "failure": None}
    try:
        results["booted_seconds"] = uptime()
        platform = Platform(options.out)
        results["adapters_powered_seconds"] = uptime()
        server = Server(options.programs, options.out / "gotchu-server.log")
        results["server_ready_seconds"] = uptime()
        for name in options.scenarios or ORDER:
            print(f"{uptime():7.1f} {name} ...", flush=True)
            outcome = run(name, platform, server, options.programs, options.out)
            print(f"{uptime():7.1f} {name} {outcome['failure'] or 'passed'}", flush=True)
            results["scenarios"].append(outcome)
    except Exception:  # The stack itself did not come up: that is the result of all of them.
        results["failure"] = traceback.format_exc()
        print(results["failure"])
    results["seconds"] = uptime()
    (options.out / "results.json").write_text(json.dumps(results, indent=2))
    failed = results["failure"] or any(each["failure"] for each in results["scenarios"])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
