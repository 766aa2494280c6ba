"""Stops or ends `gotchu-ctl login` at its prompt. Prints how it ended and if the terminal was
restored.

    hidden_input.py PROGRAM signal NUMBER | key NUMBER

The program runs in its own terminal, in the foreground, as under a shell. If the signal or key
stops the program, it is continued and then ended by SIGTERM. The output is a JSON object.
"""

import json
import os
import pty
import signal
import sys
import termios
import time
from pathlib import Path
from tempfile import TemporaryDirectory

LIMIT = 30.0
"""The limit of a wait, in seconds."""


def shows_input(terminal: int) -> bool:
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


def await_hidden(terminal: int) -> None:
    end = time.monotonic() + LIMIT
    while shows_input(terminal):
        if time.monotonic() > end:
            sys.exit("the input is never hidden")
        time.sleep(0.02)


def shell(program: str, means: str, number: int, report: Path) -> None:
    """Runs the program in the foreground, as a shell does, and writes the report."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    before = termios.tcgetattr(0)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execv(program, [program, "login", "--socket", "/nonexistent"])
    found: dict[str, object] = {}
    if means == "signal":
        await_hidden(0)
        os.kill(child, number)
    _, status = os.waitpid(child, os.WUNTRACED)
    found["is_restored"] = termios.tcgetattr(0) == before
    found["is_stopped"] = os.WIFSTOPPED(status)
    if os.WIFSTOPPED(status):
        os.kill(child, signal.SIGCONT)
        await_hidden(0)
        os.kill(child, signal.SIGTERM)
        _, status = os.waitpid(child, 0)
        found["is_restored_again"] = termios.tcgetattr(0) == before
    found["ended_by"] = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    report.write_text(json.dumps(found), encoding="utf-8")


def main() -> None:
    program, means, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report"
        leader, terminal = pty.fork()
        if leader == 0:
            shell(program, means, number, report)
            os._exit(0)
        if means == "key":
            await_hidden(terminal)
            os.write(terminal, bytes([number]))
        try:
            while os.read(terminal, 4096):
                pass
        except OSError:
            pass
        os.waitpid(leader, 0)
        print(report.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
