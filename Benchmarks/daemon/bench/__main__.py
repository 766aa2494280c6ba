"""Runs all measurements, prints them, and saves them as JSON."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Callable

from . import report
from .daemon import Daemon, PaymentServer, cpu_seconds, resident_mib, wakeups
from .events import Events, heard
from .kernel import Kernel

BUS_CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>custom</type><listen>unix:path={path}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>
"""
SETTLE = 2.0
"""Seconds without adverts before and after a run."""
ALONE = 0.25
"""The length of the run without a reader of events, as a share of the main run's length."""


class Child:
    """A process that answers each line of JSON with a line of JSON."""

    def __init__(self, module: str, bus: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"bench.{module}"],
            env=os.environ | {"DBUS_SYSTEM_BUS_ADDRESS": bus},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.hello = self.read()

    def read(self) -> dict[str, Any]:
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a part of the benchmark ended with {self.process.wait()}")
        return json.loads(line)

    def ask(self, what: Any = None) -> dict[str, Any]:
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        return self.read()

    def close(self) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def measure(
    daemon: Daemon,
    rate: int,
    seconds: float,
    play: Callable[[float, int], dict[str, Any]],
    peer: Child | None,
) -> dict[str, Any]:
    """Makes a run at one rate. Returns the CPU costs and losses of gotchud and bleak, and gotchud's
    delays."""
    events = Events(daemon.socket)
    time.sleep(SETTLE)
    before = heard(daemon.socket)
    if peer:
        peer.ask()
    is_over = threading.Event()
    levels: list[float] = []

    def watch() -> None:
        while not is_over.wait(0.5):
            levels.append(resident_mib(daemon.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    cpu = cpu_seconds(daemon.pid)
    peer_cpu = cpu_seconds(peer.process.pid) if peer else 0.0
    sent = play(seconds, 0x100000)
    time.sleep(SETTLE / 2)
    cpu = cpu_seconds(daemon.pid) - cpu
    peer_cpu = cpu_seconds(peer.process.pid) - peer_cpu if peer else 0.0
    is_over.set()
    watcher.join()
    time.sleep(SETTLE)
    delays = sorted(
        (events.arrivals[eid] - at) / 1e6 for eid, at in sent["probes"].items() if eid in events.arrivals
    )
    result = {
        "rate": rate,
        "sent": sent["sent"],
        "sender_latest_ms": sent["latest_ms"],
        "lost": sent["sent"] - (heard(daemon.socket) - before),
        "cpu_us": cpu / sent["sent"] * 1e6,
        "probes": len(sent["probes"]),
        "probes_told": len(delays),
        "p50_ms": statistics.median(delays),
        "p99_ms": delays[min(len(delays) - 1, int(len(delays) * 0.99))],
        "rss_mib": max(levels),
        "lagged": events.lagged,
    }
    if peer:
        result["peer_lost"] = sent["sent"] - peer.ask()["heard"]
        result["peer_cpu_us"] = peer_cpu / sent["sent"] * 1e6
    events.close()
    result["alone_cpu_us"] = cost(daemon, seconds * ALONE, play)
    return result


def cost(daemon: Daemon, seconds: float, play: Callable[[float, int], dict[str, Any]]) -> float:
    """Returns the daemon's CPU microseconds per advert without a reader of events."""
    time.sleep(SETTLE)
    cpu = cpu_seconds(daemon.pid)
    sent = play(seconds, 0x800000)["sent"]
    time.sleep(SETTLE / 2)
    return (cpu_seconds(daemon.pid) - cpu) / sent * 1e6


def over_dbus(options: argparse.Namespace, folder: Path, bus: str, server: str) -> list[dict[str, Any]]:
    runs = []
    bluez = Child("bluez", bus)
    asleep = []
    for rate in options.rates:
        name = folder / f"dbus-asleep-{rate}"
        with Daemon(options.daemon, name, bus, server, "bluez", GOTCHU_LISTEN="auto") as daemon:
            order = {"rate": rate, "seconds": options.seconds * ALONE, "first_probe": 0}
            asleep.append(cost(daemon, 0, lambda *_: bluez.ask(order)))
    peer = Child("peer", bus)
    print(f"bleak {peer.hello['version']} beside gotchud, on one bus", flush=True)
    for rate in options.rates:
        # Each rate has a new daemon, so that it does not influence the next rate.
        with Daemon(options.daemon, folder / f"dbus-{rate}", bus, server, "bluez") as daemon:

            def play(seconds: float, probe: int) -> dict[str, Any]:
                # bleak already knows the probes of earlier rates, so each rate has its own.
                first = probe + 0x1000000 * rate
                return bluez.ask({"rate": rate, "seconds": seconds, "first_probe": first})

            runs.append(measure(daemon, rate, options.seconds, play, peer))
    peer.close()
    bluez.close()
    for run, cpu in zip(runs, asleep, strict=True):
        run["asleep_cpu_us"] = cpu
    return runs


def over_management(options: argparse.Namespace, folder: Path, bus: str, server: str) -> list[dict[str, Any]]:
    runs = []
    bluez = Child("bluez", bus)
    for rate in options.rates:
        path = folder / f"kernel-{rate}"
        kernel = Kernel(path)
        more = {"LD_PRELOAD": options.kernel, "BENCH_MANAGEMENT_SOCKET": str(path)}
        name = folder / f"management-{rate}"
        with Daemon(options.daemon, name, bus, server, "management:hci0", **more) as daemon:

            def play(seconds: float, probe: int) -> dict[str, Any]:
                return kernel.play(rate, seconds, probe)

            runs.append(measure(daemon, rate, options.seconds, play, None))
        more["GOTCHU_LISTEN"] = "auto"
        name = folder / f"management-asleep-{rate}"
        with Daemon(options.daemon, name, bus, server, "management:hci0", **more) as daemon:
            runs[-1]["asleep_cpu_us"] = cost(daemon, options.seconds * ALONE, play)
    bluez.close()
    return runs


def at_rest(options: argparse.Namespace, folder: Path, bus: str, server: str) -> dict[str, Any]:
    bluez = Child("bluez", bus)
    starts = []
    for turn in range(7):
        with Daemon(options.daemon, folder / f"start-{turn}", bus, server, "bluez") as daemon:
            starts.append(daemon.ready_ms)
            if turn == 6:
                time.sleep(5)
                begin, before = time.monotonic(), wakeups(daemon.pid)
                time.sleep(options.idle_seconds)
                # The last wake-ups of a thread that ended meanwhile are not counted.
                counts = wakeups(daemon.pid).items()
                woken = sum(count - before.get(thread, 0) for thread, count in counts)
                rate = woken / (time.monotonic() - begin)
                resident = resident_mib(daemon.pid)
    bluez.close()
    return {
        "ready_ms": {"median": statistics.median(starts), "worst": max(starts)},
        "idle_wakeups": rate,
        "idle_rss_mib": resident,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="Benchmarks/daemon/run",
        description="Measures gotchud against bleak on one private bus with a scripted bluetoothd.",
    )
    parser.add_argument("--seconds", type=float, default=60, help="of each rate (60)")
    parser.add_argument("--idle-seconds", type=float, default=20, help="of being idle (20)")
    parser.add_argument("--rates", type=int, nargs="+", default=[20, 300, 1000])
    parser.add_argument("--daemon", help=argparse.SUPPRESS)
    parser.add_argument("--kernel", help=argparse.SUPPRESS)
    parser.add_argument("--results", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.daemon = os.path.realpath(options.daemon)
    options.kernel = os.path.realpath(options.kernel)

    print(report.machine())
    print(report.load())
    print(f"{options.seconds:g} s of each rate; every advert is one of ours, from 20 devices and new ones")
    with tempfile.TemporaryDirectory(prefix="bench") as name:
        folder = Path(name)
        (folder / "bus.conf").write_text(BUS_CONFIGURATION.format(path=folder / "bus"))
        bus_process = subprocess.Popen(
            ["dbus-daemon", "--nofork", f"--config-file={folder}/bus.conf", "--print-address=1"],
            stdout=subprocess.PIPE,
            # dbus-daemon complains that its limit of descriptors is lower than the system's.
            stderr=subprocess.DEVNULL,
        )
        try:
            bus_process.stdout.readline()
            bus = f"unix:path={folder}/bus"
            server = PaymentServer().url
            results = {"machine": report.machine(), "load": os.getloadavg()[0]}
            results |= at_rest(options, folder, bus, server)
            results["dbus"] = over_dbus(options, folder, bus, server)
            peers = {run["rate"]: run["peer_cpu_us"] for run in results["dbus"]}
            report.transport("over D-Bus", results["dbus"], peers, {300: 0.6, 1000: 0.5})
            if os.geteuid() == 0:
                results["management"] = over_management(options, folder, bus, server)
                report.transport(
                    "over management frames (a local socket stands for the kernel's; bleak as over D-Bus)",
                    results["management"],
                    peers,
                    {300: 0.3, 1000: 0.2},
                )
            else:
                print("\nover management frames: left out, gotchud needs CAP_NET_ADMIN; run it as root")
            report.summary(results)
        finally:
            bus_process.terminate()
            bus_process.wait()
    if options.results:
        options.results.write_text(json.dumps(results, indent=2) + "\n")
    for run in results["dbus"] + results.get("management", []):
        if run["probes_told"] < run["probes"]:
            print(f"at {run['rate']}/s {run['probes'] - run['probes_told']} new EIDs were never told")


main()
