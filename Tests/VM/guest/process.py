"""A program under test."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from .deadline import TIMEOUT, WaitTimeout, eventually


class Process:
    """A running program. Its standard output and standard error go to one log file."""

    def __init__(self, name: str, command: list[str], log: Path) -> None:
        self.name = name
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        self._start = log.stat().st_size if log.exists() else 0
        with log.open("ab") as output:
            self._child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )

    @property
    def is_alive(self) -> bool:
        return self._child.poll() is None

    @property
    def pid(self) -> int:
        return self._child.pid

    def output(self) -> str:
        """Returns the output since the program's start."""
        with self.log.open("rb") as log:
            log.seek(self._start)
            return log.read().decode(errors="replace")

    def wait_until_it_says(self, text: str, seconds: float = TIMEOUT) -> None:
        def has_said() -> bool:
            if text in self.output():
                return True
            if not self.is_alive:
                status = self._child.returncode
                raise WaitTimeout(f"{self.name} ended ({status}) before it said '{text}'")
            return False

        eventually(f"{self.name} to say '{text}'", has_said, seconds)

    def signal(self, number: signal.Signals) -> None:
        self._child.send_signal(number)

    def wait(self, seconds: float = TIMEOUT) -> int:
        """Waits for the program's own end, and returns its exit status."""
        try:
            return self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise WaitTimeout(f"{self.name} did not end within {seconds:g} s") from None

    def kill(self) -> None:
        """Kills the program with SIGKILL, and waits for its end."""
        self._child.kill()
        self._child.wait()

    def stop(self, seconds: float = TIMEOUT) -> int:
        """Ends the program with SIGTERM, and returns its exit status. A program that does not end
        is killed, and `WaitTimeout` is raised."""
        self._child.terminate()
        try:
            return self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise WaitTimeout(f"{self.name} did not end within {seconds:g} s of SIGTERM") from None
