"""Runs all scenarios, or the named ones, and writes OUT/results.json."""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from threading import Timer
from typing import Any

from .scenario import Outcome, run
from .scenarios import ORDER
from .stack import Platform, Server

PROGRAMS = ("gotchu-server", "gotchud", "gotchu-ctl")

SYSTEM_PROGRAMS = (
    "/usr/libexec/bluetooth/bluetoothd", "bluetoothctl", "busctl", "dbus-daemon", "env", "setpriv"
)

MEMORY = Path("/run/programs")
"""The folder in memory from which all programs and their libraries are run."""

STORY_LIMIT = 300.0
"""The time limit of a scenario, in seconds of the machine's own time."""

LOGS = Path("/run/logs")
"""The folder of the logs until a scenario has ended. A scenario must not read or write files in the
shared folder: this takes real time, and meanwhile the machine's own time runs on to the next
limit."""

HUNG = 70
"""The exit status after a scenario that did not end. The machine cannot be used any more."""


class Report:
    """The file results.json. It is rewritten at each step, so that a crash of the machine loses no
    result."""

    def __init__(self, out: Path, seed: int) -> None:
        self._file = out / "results.json"
        self._results: dict[str, Any] = {
            "seed": seed, "scenarios": [], "running": None, "failure": None
        }
        self.write()

    def write(self, **more: Any) -> None:
        self._results.update(more, seconds=uptime())
        scratch = self._file.with_suffix(".new")
        scratch.write_text(json.dumps(self._results, indent=2))
        scratch.replace(self._file)

    def add(self, outcome: Outcome) -> None:
        self._results["scenarios"].append(outcome)
        self.write(running=None)
        print(f"{uptime():7.1f} {outcome['name']} {outcome['failure'] or 'passed'}", flush=True)

    @property
    def has_failed(self) -> bool:
        return bool(self._results["failure"]) or any(
            each["failure"] for each in self._results["scenarios"]
        )


def uptime() -> float:
    return float(Path("/proc/uptime").read_text().split()[0])


def run_scenario(name: str, report: Report, platform: Platform, server: Server, options: Any) -> None:
    """Runs one scenario. If the scenario hangs, its failure is written and the process ends."""

    def give_up() -> None:
        with tempfile.TemporaryFile("w+") as stacks:
            faulthandler.dump_traceback(stacks)
            stacks.seek(0)
            failure = f"It did not end within {STORY_LIMIT:g} s.\n{stacks.read()}"
        keep_logs(options.out)
        report.add(Outcome(name=name, failure=failure, seconds=STORY_LIMIT, figures={}))
        os._exit(HUNG)

    print(f"{uptime():7.1f} {name} ...", flush=True)
    report.write(running=name)
    watchdog = Timer(STORY_LIMIT, give_up)
    watchdog.daemon = True
    watchdog.start()
    outcome = run(name, platform, server, MEMORY, LOGS)
    watchdog.cancel()
    keep_logs(options.out)
    report.add(outcome)


def keep_logs(out: Path) -> None:
    """Copies all logs to the shared folder."""
    shutil.copytree(LOGS, out, dirs_exist_ok=True)


def copy_programs(folder: Path) -> None:
    """Copies all programs and their libraries to memory, and makes all later programs look there
    first. Each file that a program looks for in the host's folders takes real time, even if it is
    not there."""
    MEMORY.mkdir()
    programs = [str(folder / name) for name in PROGRAMS]
    programs += [path for path in map(shutil.which, SYSTEM_PROGRAMS) if path]
    listed = subprocess.run(["ldd", *programs], capture_output=True, text=True).stdout
    libraries = re.findall(r"=> (/\S+)", listed)
    # The C library loads these when a program looks for a user.
    libraries += [str(path) for path in Path("/lib/x86_64-linux-gnu").glob("libnss_*.so.2")]
    for path in {*programs, *libraries}:
        shutil.copy(path, MEMORY)
    os.environ["PATH"] = f"{MEMORY}:{os.environ['PATH']}"
    os.environ["LD_LIBRARY_PATH"] = str(MEMORY)


def main() -> int:
    parser = argparse.ArgumentParser(prog="guest", description="Payment stories on a real stack.")
    parser.add_argument("--programs", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--seed", type=int, default=1, help="of the air's noise, loss and jitter")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    options = parser.parse_args()

    LOGS.mkdir()
    report = Report(options.out, options.seed)
    try:
        report.write(booted_seconds=uptime())
        copy_programs(options.programs)
        report.write(programs_read_seconds=uptime())
        platform = Platform(LOGS, options.seed)
        report.write(adapters_powered_seconds=uptime())
        server = Server(MEMORY, LOGS / "gotchu-server.log")
        names = options.scenarios or ORDER
        for name in names:
            # Reading a module takes real time too.
            importlib.import_module(f"guest.scenarios.{name}")
        for name in names:
            run_scenario(name, report, platform, server, options)
        server.verify()
    except Exception:  # The stack did not start, or the books do not verify.
        report.write(failure=traceback.format_exc())
        traceback.print_exc(file=sys.stdout)
    keep_logs(options.out)
    return 1 if report.has_failed else 0


if __name__ == "__main__":
    sys.exit(main())
