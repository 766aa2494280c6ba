"""The printed results."""

from __future__ import annotations

import os
import platform
import time
from typing import Any


def machine() -> str:
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if "model name" in line), "?")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{time.strftime('%Y-%m-%d %H:%M')} · {os.cpu_count()} × {model} · {memory:.0f} GiB · "
        f"Linux {platform.release()}"
    )


def load() -> str:
    """Returns a line about the machine's load, because figures under load are worse than at
    rest."""
    now = os.getloadavg()[0]
    mark = "" if now < 0.5 else ": MEASURED UNDER LOAD, every figure is worse than at rest"
    return f"load before: {now:.1f}{mark}"


def aim(text: str, is_held: bool) -> str:
    return f"{text} ({'held' if is_held else 'MISSED'})"


def transport(name: str, runs: list[dict[str, Any]], peers: dict[int, float], aims: dict[int, float]) -> None:
    """Prints the results of a transport. `aims` has the maximum of gotchud's CPU time per advert,
    with a reader of events, as a share of bleak's, by rate."""
    print(f"\n{name}")
    print(
        "adverts/s   sent    lost   CPU µs/advert   no reader   asleep   bleak lost / µs    ratio   no reader"
        "   p50 ms   p99 ms   RSS MiB"
    )
    for run in runs:
        peer = peers.get(run["rate"])
        ratio = run["cpu_us"] / peer if peer else float("nan")
        alone = run["alone_cpu_us"] / peer if peer else float("nan")
        bleak = f"{run.get('peer_lost', '–'):>6} / {peer:6.1f}" if peer else "       –        "
        print(
            f"{run['rate']:9}  {run['sent']:6}  {run['lost']:6}   {run['cpu_us']:13.1f}   "
            f"{run['alone_cpu_us']:9.1f}   {run['asleep_cpu_us']:6.1f}   {bleak}   {ratio:6.2f}   {alone:9.2f}"
            f"   {run['p50_ms']:6.2f}   {run['p99_ms']:6.2f}   {run['rss_mib']:7.1f}"
        )
    late = max(run["sender_latest_ms"] for run in runs)
    print(f"the sender itself was at most {late:.1f} ms late, which delays may hold")
    for run in runs:
        rate = run["rate"]
        if rate in peers and rate in aims:
            share = run["cpu_us"] / peers[rate]
            text = f"at {rate}/s {share:.2f} of bleak's CPU an advert; aim {aims[rate]:g}"
            print(aim(text, share <= aims[rate]))


def summary(results: dict[str, Any]) -> None:
    print()
    ready = results["ready_ms"]
    text = f"exec → READY: median {ready['median']:.0f} ms, worst {ready['worst']:.0f}; aim 100 ms"
    print(aim(text, ready["median"] <= 100))
    print(aim(f"idle: {results['idle_wakeups']:.2f} wake-ups/s; aim 2", results["idle_wakeups"] <= 2))
    most = max(run["rss_mib"] for key in ("dbus", "management") for run in results.get(key, []))
    print(aim(f"RSS: {results['idle_rss_mib']:.1f} MiB idle, at most {most:.1f}; aim 25", most <= 25))
    for run in results.get("dbus", []):
        if run["rate"] == 300:
            print(aim(f"advert → event at 300/s over D-Bus: p99 {run['p99_ms']:.1f} ms; aim 100", run["p99_ms"] <= 100))
