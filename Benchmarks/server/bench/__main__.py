"""Measures gotchu-server on SQLite and PostgreSQL, and other programs in the same run."""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time

from . import machine
from .bench import Bench
from .report import Report

PARTS = ("sale", "take", "pairs", "scale", "single", "growth", "backlog", "streams")
STORES = ("sqlite", "postgres")


def options():
    parser = argparse.ArgumentParser(
        prog="Benchmarks/run server", description=__doc__,
        epilog="Default: every part, about a quarter of an hour. --quick tries everything in three"
        " minutes.")
    parser.add_argument("--server", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--load", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--sale", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--results", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="short and rough")
    parser.add_argument("--seconds", type=float, help="of each measurement (3)")
    parser.add_argument("--pairs", type=int, help="how often ours and the peers take turns (5)")
    parser.add_argument("--base", metavar="PROGRAM", help="another gotchu-server, as of the commit"
                        " before, that takes turns in sale, take, pairs and scale")
    parser.add_argument("--connections", type=lambda text: [int(n) for n in text.split(",")],
                        default=[1, 8, 64, 256])
    parser.add_argument("--users", type=int, default=2_000)
    parser.add_argument("--entries", type=int, help="how far the books grow, on PostgreSQL"
                        " (1000000; 10000000 takes 12 GiB and some minutes)")
    parser.add_argument("--due", type=int, help="how many webhook events wait (1000000)")
    parser.add_argument("--streams", type=int, default=10_000)
    parser.add_argument("--stores", type=lambda text: text.split(","), default=list(STORES),
                        help=f"{', '.join(STORES)}; citus, if it is installed, for sale and scale")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(PARTS),
                        help=f"parts, separated by commas: {', '.join(PARTS)}")
    found = parser.parse_args()
    unknown = set(found.only) - set(PARTS)
    if unknown:
        parser.error(f"unknown part: {', '.join(sorted(unknown))}")
    found.warmup = 0.5 if found.quick else 1
    found.seconds = found.seconds or (1.5 if found.quick else 3)
    found.pairs = found.pairs or (1 if found.quick else 5)
    found.entries = found.entries or (100_000 if found.quick else 1_000_000)
    found.due = found.due or (100_000 if found.quick else 1_000_000)
    return found


def run(bench, report, wanted):
    bench.prepare()
    results = bench.results
    for text in results["machine"] + results["durability"]:
        report.add(text)
    if "sale" in wanted:
        sales = bench.sales()
        results["sale"] = {connections: [list(found.values()) for found in rounds]
                           for connections, rounds in sales.items()}
        report.sales(sales)
    if "take" in wanted:
        takes = bench.takes()
        results["take"] = {connections: [list(found.values()) for found in rounds]
                           for connections, rounds in takes.items()}
        report.takes(takes)
    for books, tokens in bench.stores:
        name = books.kind
        if "pairs" in wanted and name == "PostgreSQL":
            rounds = bench.pairs(tokens)
            results["pairs"] = [list(found.values()) for found in rounds]
            report.pairs(rounds)
        if "scale" in wanted:
            results[f"scale-{name}"] = bench.scale(books, tokens)
            report.table(name, results[f"scale-{name}"])
        if "growth" in wanted and name == "PostgreSQL":
            results["growth"] = bench.growth(tokens)
            report.growth(name, results["growth"])
        if "backlog" in wanted:
            results[f"backlog-{name}"] = bench.backlog(books, tokens)
            report.backlog(name, results[f"backlog-{name}"])
    if "single" in wanted:
        results["single"] = bench.single()
        report.single(results["single"])
    if "streams" in wanted:
        results["streams"] = bench.idle_streams(*bench.stores[-1])
        report.streams(results["streams"])
    bench.verify()


def main():
    wanted = options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # The folder is on a disk and not in memory, because durable commits are measured.
    folder = tempfile.mkdtemp(prefix="gotchu-bench-", dir="/var/tmp")
    # PostgreSQL runs as another user, and must have access to its own folder in this folder.
    os.chmod(folder, 0o711)
    started = time.monotonic()

    def say(text):
        print(f"[{time.monotonic() - started:4.0f} s, load {machine.load():.1f}] {text}",
              file=sys.stderr, flush=True)

    bench, report = Bench(wanted, folder, say), Report()
    try:
        run(bench, report, wanted.only)
    finally:
        bench.end()
        shutil.rmtree(folder, ignore_errors=True)
    bench.results["aims"] = report.aims
    # The results are printed only after the books were verified.
    print("\n".join(report.lines))
    print(f"\nVerified both books; {time.monotonic() - started:.0f} s; load now "
          f"{machine.load():.1f}. All of it: {wanted.results}")
    with open(wanted.results, "w") as file:
        json.dump(bench.results, file, indent=1)


main()
