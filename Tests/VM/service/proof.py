"""Checks our packages and their services, writes the result to /out/status, and switches the
machine off."""

from __future__ import annotations

import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic

from guest import deadline
from guest.http import Client, Refused
from guest.scenario import expect

SOCKET = "/run/gotchu/gotchud.sock"
STATE = Path("/var/lib/gotchu")
TOKEN = Path("/etc/gotchu-token")
"""A device's token, until it is moved to the folder of credentials."""
STEP = 600.0
"""The time limit of one step, in seconds. It is long, because the machine's time is real and its
host may be busy."""
PACKAGES = tuple(str(package) for package in sorted(Path(sys.argv[1]).glob("*.deb")))

eventually = partial(deadline.eventually, seconds=STEP)


def systemctl(*arguments: str) -> str:
    return subprocess.run(
        ["systemctl", *arguments], capture_output=True, text=True, timeout=STEP
    ).stdout.strip()


def shown(unit: str, name: str) -> str:
    return systemctl("show", "-P", name, unit)


def is_ready(unit: str) -> None:
    eventually(f"{unit} to say that it is ready", lambda: shown(unit, "ActiveState") == "active")
    expect(f"the number of restarts of {unit}", shown(unit, "NRestarts"), "0")


def dpkg(*arguments: str) -> None:
    done = subprocess.run(
        ["dpkg", "--force-unsafe-io", "--force-confold", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=STEP,
    )
    if done.returncode != 0:
        raise AssertionError(f"dpkg {arguments[0]} ended with {done.returncode}:\n{done.stdout}")


def run(*command: str, given: str = "") -> str:
    """Runs a command that must succeed, and returns its output."""
    done = subprocess.run(
        command,
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=STEP,
    )
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def process(unit: str) -> dict[str, str]:
    """Returns the fields of /proc/PID/status for the unit's main process."""
    status = Path(f"/proc/{shown(unit, 'MainPID')}/status").read_text()
    return dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)


def journal(unit: str) -> str:
    command = ["journalctl", "--no-pager", "-o", "cat", "-u", unit]
    return subprocess.run(command, capture_output=True, text=True, timeout=STEP).stdout


def installing_starts_the_daemon() -> None:
    """The installation starts gotchud. It does not start the server and the display, which their
    operator starts."""
    dpkg("--install", *PACKAGES)
    is_ready("gotchud")
    expect("the server's state", shown("gotchu-server", "ActiveState"), "inactive")
    expect("gotchud's enablement", systemctl("is-enabled", "gotchud"), "enabled")
    expect("the server's enablement", systemctl("is-enabled", "gotchu-server"), "disabled")
    expect("the display's state", shown("gotchu-display", "ActiveState"), "inactive")
    expect("the display's enablement", systemctl("is-enabled", "gotchu-display"), "disabled")


def both_start_hardened() -> None:
    systemctl("start", "--no-block", "gotchu-server")
    is_ready("gotchu-server")
    for unit in ("gotchu-server", "gotchud"):
        found = process(unit)
        expect(f"{unit} runs as root", found["Uid"].split()[0] == "0", False)
        expect(f"the capabilities of {unit}", int(found["CapBnd"], 16), 0)
        expect(f"NoNewPrivs of {unit}", found["NoNewPrivs"], "1")
        expect(f"the system call filter of {unit}", found["Seccomp"], "2")


def daemon_reaches_bluetoothd() -> None:
    """gotchud reaches bluetoothd through our own bus policy, and other users do not reach it."""
    client = Client(SOCKET)

    def adapter() -> bool:
        radio = client.get("/v1/status")["radio"]
        return radio["adapter"] == "hci0" and radio["is_scanning"]

    # A request for presences starts a scan.
    eventually("gotchud to scan on hci0", lambda: client.get("/v1/sessions") and adapter())
    denied = subprocess.run(
        ["setpriv", "--reuid=nobody", "--clear-groups", "busctl", "tree", "org.bluez"],
        capture_output=True,
        text=True,
        timeout=STEP,
    )
    if "hci0" in denied.stdout:
        raise AssertionError("everybody may talk to bluetoothd, so this proves nothing")


def socket_is_for_the_group() -> None:
    found = Path(SOCKET).stat()
    expect("the socket's mode", oct(found.st_mode & 0o777), oct(0o660))
    expect("the socket's group", Path(SOCKET).group(), "gotchu")
    stranger = subprocess.run(
        ["setpriv", "--reuid=nobody", "--clear-groups", "gotchu-ctl", "status", "--json"],
        capture_output=True,
        text=True,
        timeout=STEP,
    )
    if "PERMISSION_DENIED" not in stranger.stdout:
        raise AssertionError(f"a stranger was told: {stranger.stdout} {stranger.stderr}")


def journal_is_quiet() -> None:
    said = journal("gotchud")
    for complaint in ("thread priority", "could not be given", "not permitted"):
        if complaint in said:
            raise AssertionError(f"the journal complains of '{complaint}':\n{said}")


def reload_keeps_it_running() -> None:
    before = shown("gotchud", "MainPID")
    systemctl("reload", "gotchud")
    eventually("gotchud to be reloaded", lambda: shown("gotchud", "ActiveState") == "active")
    expect("gotchud's process after a reload", shown("gotchud", "MainPID"), before)


def death_is_a_restart() -> None:
    systemctl("kill", "--signal=KILL", "gotchud")
    eventually("gotchud to be restarted after a kill", lambda: shown("gotchud", "NRestarts") == "1")
    eventually("gotchud to be ready again", lambda: shown("gotchud", "ActiveState") == "active")


def hang_is_a_restart() -> None:
    """The watchdog restarts a suspended daemon. Its limit is two seconds in this check."""
    short = Path("/run/systemd/system/gotchud.service.d/watchdog.conf")
    short.parent.mkdir(parents=True)
    short.write_text("[Service]\nWatchdogSec=2s\nTimeoutAbortSec=2s\n")
    systemctl("daemon-reload")
    systemctl("restart", "gotchud")
    eventually("gotchud to be ready", lambda: shown("gotchud", "ActiveState") == "active")
    systemctl("kill", "--signal=STOP", "gotchud")
    eventually("gotchud to be restarted", lambda: int(shown("gotchud", "NRestarts")) > 0)
    short.unlink()
    systemctl("daemon-reload")
    # The restarted process still has the short limit, which it may exceed on a busy host.
    systemctl("restart", "gotchud")
    eventually("gotchud to be ready again", lambda: shown("gotchud", "ActiveState") == "active")


def enrolling_restarts_the_service() -> None:
    """`gotchu-ctl enrol` logs in with a device's code and restarts gotchud. The server has another
    name here, and the settings are restored afterwards. The token becomes the credential of a later
    step."""
    configuration = Path("/etc/gotchu/gotchud.json")
    usual = configuration.read_bytes()
    books = "sqlite:/var/lib/gotchu-server/ledger.sqlite"
    added = run(
        *("runuser", "-u", "gotchu-server", "--"),
        *("gotchu-server", "devices", "add", "Till", "--database", books),
    )
    before = shown("gotchud", "MainPID")
    enrolled = run("gotchu-ctl", "enrol", "http://localhost:8080", given=added.split()[-1])
    is_told = "Enrolled: logged in at http://localhost:8080" in enrolled
    expect("gotchu-ctl enrol reports the login", is_told, True)
    expect("gotchud is a new process", shown("gotchud", "MainPID") != before, True)
    server = Client(SOCKET).get("/v1/status")["server"]
    expect("the URL of gotchud's server", server["url"], "http://localhost:8080")
    expect("gotchud is logged in", server["is_logged_in"], True)
    shutil.move(STATE / "token", TOKEN)
    configuration.write_bytes(usual)
    systemctl("restart", "gotchud")


def example_of_a_hook_may_follow() -> None:
    """The installed example of a hook runs as a separate user that can see requests."""
    program = Path("/usr/local/lib/gotchu/hook")
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = Path("/run/systemd/system/gotchu-hook.service")
    unit.write_bytes(Path("/usr/share/doc/gotchu/examples/hook.service").read_bytes())
    systemctl("daemon-reload")
    systemctl("start", "gotchu-hook")
    eventually("the hook to follow the events", lambda: "---" in journal("gotchu-hook"))
    expect("the hook runs as root", process("gotchu-hook")["Uid"].split()[0] == "0", False)
    expect("the number of restarts of gotchu-hook", shown("gotchu-hook", "NRestarts"), "0")
    systemctl("stop", "gotchu-hook")
    unit.unlink()
    systemctl("daemon-reload")


def credential_is_the_login() -> None:
    """A service that ran without a credential is logged in after a restart with one."""
    expect("gotchud has no login", Client(SOCKET).get("/v1/status")["server"]["is_logged_in"], False)
    TOKEN.rename("/etc/credstore/gotchu.token")
    systemctl("restart", "gotchud")

    def is_logged_in() -> bool:
        try:
            return bool(Client(SOCKET).get("/v1/status")["server"]["is_logged_in"])
        except (OSError, Refused):
            return False

    eventually("gotchud to be logged in with the credential", is_logged_in)


def upgrading_keeps_the_state_and_restarts() -> None:
    """An upgrade restarts both programs and keeps their files. For dpkg, the installation of the
    same version is an upgrade too."""
    before = {unit: shown(unit, "MainPID") for unit in ("gotchud", "gotchu-server")}
    kept = {file: file.read_bytes() for file in STATE.iterdir() if file.is_file()}
    expect("the state folder has files", bool(kept), True)
    dpkg("--install", *PACKAGES)
    for unit, process_id in before.items():
        is_ready(unit)
        expect(f"{unit} is a new process", shown(unit, "MainPID") != process_id, True)
        expect(f"the result of {unit}", shown(unit, "Result"), "success")
    for file, content in kept.items():
        expect(f"{file} is unchanged", file.read_bytes().startswith(content), True)


def wrong_configuration_is_not_retried() -> None:
    Path("/etc/gotchu/gotchud.json").write_text('{"rdaio": "bluez"}')
    before = shown("gotchud", "MainPID")
    reload = subprocess.run(["systemctl", "reload", "gotchud"], timeout=STEP)
    expect("the reload with a wrong configuration fails", reload.returncode != 0, True)
    expect("gotchud's process after the failed reload", shown("gotchud", "MainPID"), before)
    systemctl("restart", "gotchud")
    eventually("gotchud to fail", lambda: shown("gotchud", "ActiveState") == "failed")
    expect("gotchud's exit status", shown("gotchud", "ExecMainStatus"), "78")
    expect("the number of restarts of gotchud", shown("gotchud", "NRestarts"), "0")


def server_waits_for_database() -> None:
    """The server is restarted until its database is available, without a limit of starts."""
    expect("the server's start limit", shown("gotchu-server", "StartLimitIntervalUSec"), "0")
    environment = Path("/etc/gotchu/gotchu-server.env")
    usual = environment.read_text()
    often = Path("/run/systemd/system/gotchu-server.service.d/often.conf")
    often.parent.mkdir(parents=True)
    often.write_text("[Service]\nRestartSec=100ms\n")
    environment.write_text("GOTCHU_SERVER_DATABASE=postgres://gotchu@127.0.0.1:1/gotchu\n")
    systemctl("daemon-reload")
    systemctl("restart", "--no-block", "gotchu-server")
    eventually("the server's second restart", lambda: int(shown("gotchu-server", "NRestarts")) >= 2)
    environment.write_text(usual)
    eventually("the server to serve", lambda: shown("gotchu-server", "ActiveState") == "active")
    often.unlink()
    systemctl("daemon-reload")


def it_stops_well() -> None:
    systemctl("stop", "gotchu-server")
    expect("the result of the server", shown("gotchu-server", "Result"), "success")


def purging_leaves_nothing() -> None:
    systemctl("start", "gotchu-server")
    dpkg("--purge", "gotchu", "gotchu-server", "gotchu-display")
    for unit in ("gotchud", "gotchu-server"):
        expect(f"the process of {unit}", shown(unit, "MainPID"), "0")
        expect(f"the unit file of {unit}", shown(unit, "LoadState"), "not-found")
    folders = (STATE, Path("/var/lib/gotchu-server"), Path("/etc/gotchu"), Path("/run/gotchu"))
    left = [str(folder) for folder in folders if folder.exists()]
    expect("the folders that are left after the purge", left, [])


PROOFS: tuple[Callable[[], None], ...] = (
    installing_starts_the_daemon,
    both_start_hardened,
    daemon_reaches_bluetoothd,
    socket_is_for_the_group,
    journal_is_quiet,
    reload_keeps_it_running,
    death_is_a_restart,
    hang_is_a_restart,
    enrolling_restarts_the_service,
    example_of_a_hook_may_follow,
    credential_is_the_login,
    upgrading_keeps_the_state_and_restarts,
    wrong_configuration_is_not_retried,
    server_waits_for_database,
    it_stops_well,
    purging_leaves_nothing,
)


def main() -> None:
    status = 0
    for proof in PROOFS:
        began = monotonic()
        try:
            proof()
            print(f"passed: {proof.__name__} ({monotonic() - began:.0f} s)", flush=True)
        except Exception:  # The next proofs still run, and the machine must be switched off.
            status = 1
            print(f"FAILED: {proof.__name__}\n{traceback.format_exc()}", flush=True)
    if status != 0:
        for unit in ("gotchud", "gotchu-server", "bluetooth", "air"):
            print(f"== journal of {unit}\n{journal(unit)[-4000:]}", flush=True)
    Path("/out/status").write_text(f"{status}\n")
    Path("/proc/sysrq-trigger").write_text("o")


if __name__ == "__main__":
    main()
