"""Runs all stories, or the named ones, and writes OUT/results.json after each."""

from __future__ import annotations

import argparse
import faulthandler
import inspect
import json
import shutil
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock
from time import monotonic
from typing import Any

from .chromium import Chromium
from .deadline import PATIENCE
from .stories import STORIES
from .world import World

BROWSERS = 4
"""The number of stories that run at once, each in its own browser. Most of the time they wait."""

LONG = (
    "database", "contest", "month", "silent", "soak", "fit", "trouble", "states", "enlarged", "provider", "killed",
    "sale", "report", "roster", "code", "withdrawal",
)  # fmt: skip
"""The longest stories. They run first, so that the browsers end at about the same time."""

HANG = 300.0
"""Seconds without the end of a story, after which all stacks are printed and the program ends."""


class Run:
    """The stories that have not run yet, and the outcomes of the stories that have."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options = options
        self.folder = folder
        self.out: Path = options.out.resolve()
        self.outcomes: list[dict[str, Any]] = []
        self._lock = Lock()
        self._names: SimpleQueue[str] = SimpleQueue()
        names = list(options.stories or STORIES)
        for name in [name for name in LONG if name in names] + [name for name in names if name not in LONG]:
            self._names.put(name)
        self._report()

    def work(self, number: int) -> None:
        """Runs stories in one browser until none is left."""
        chromium = Chromium(self.folder / f"browser-{number}")
        try:
            while True:
                self._run_story(self._names.get_nowait(), chromium)
        except Empty:
            return
        finally:
            chromium.quit()

    def _run_story(self, name: str, chromium: Chromium) -> None:
        began, failure = monotonic(), None
        world = World(name, chromium, self.options, self.folder / name)
        try:
            STORIES[name](world)
            world.end()
        except Exception as error:
            title = inspect.getdoc(STORIES[name])
            failure = f"{name}: {title}\n{error}\n{traceback.format_exc(limit=-4)}"
            world.keep_evidence()
        finally:
            world.close()
        seconds = monotonic() - began
        outcome = {"name": name, "failure": failure, "seconds": seconds, "figures": world.figures}
        with self._lock:
            self.outcomes.append(outcome)
            self._report()
        print(f"{seconds:6.1f} {name} {failure or 'passed'} {world.figures or ''}", flush=True)

    def _report(self) -> None:
        """Replaces results.json as a whole, because another process reads it. Restarts the limit
        HANG."""
        faulthandler.dump_traceback_later(HANG * PATIENCE, exit=True)
        scratch = self.out / "results.new"
        scratch.write_text(json.dumps({"scenarios": self.outcomes}, indent=2))
        scratch.replace(self.out / "results.json")


def main() -> int:
    parser = argparse.ArgumentParser(prog="browser", description=__doc__)
    parser.add_argument("stories", nargs="*", metavar="STORY")
    parser.add_argument("--programs", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--views", type=Path, help="the display's states, a JSON line each")
    parser.add_argument("--faults", type=Path, help="the library of Tests/Faults")
    parser.add_argument("--postgres", metavar="URL", help="a database, its cluster in the folder above its socket's")
    parser.add_argument("--list", action="store_true", help="print the stories' names")
    options = parser.parse_args()
    if options.list:
        print("\n".join(STORIES))
        return 0
    # The folder's path is short, because the paths of Unix sockets must be short.
    folder = Path(tempfile.mkdtemp(prefix="gb"))
    try:
        run = Run(options, folder)
        count = min(BROWSERS, len(options.stories or STORIES))
        with ThreadPoolExecutor(count) as pool:
            for worker in [pool.submit(run.work, number) for number in range(count)]:
                worker.result()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if any(outcome["failure"] for outcome in run.outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
