"""Measures many small contests at once, a large settlement and a large cancellation, and the effect
of the large ones on concurrent payments."""

import argparse
import http.client
import json
import os
import shutil
import subprocess
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from bench import gotchu, machine, postgres, seed

QUIZ = "01999f00-0000-7000-8000-000000000002"
FEE = 5
CONNECTIONS = 16
PAYING = 64
SMALL, ENTRANTS = 100, 10
WINNERS, ENTRIES = 1_000, 10_000
REVISION = 500
AIM = 2.0
SEEDS = 40_000


class Caller:
    """A connection to the server, from its own address."""

    # The callers have different addresses, because the server limits the connections of an address.
    count = 0

    def __init__(self, port):
        Caller.count += 1
        self.connection = http.client.HTTPConnection(
            "127.0.0.1", port, source_address=(f"127.3.0.{Caller.count % 250 + 1}", 0), timeout=120)

    def post(self, path, body, token):
        self.connection.request("POST", path, json.dumps(body), {
            "Content-Type": "application/json", "Authorization": f"Bearer {token}",
            "Idempotency-Key": str(uuid.uuid4())})
        reply = self.connection.getresponse()
        answer = json.loads(reply.read())
        if reply.status != 200:
            raise SystemExit(f"{path} was refused: {answer}")
        return answer


class Bench:
    def __init__(self, options, server, books, tokens):
        self.options, self.server, self.books, self.tokens = options, server, books, tokens
        self.callers = [Caller(server.port) for _ in range(CONNECTIONS)]

    def all(self, work):
        """Runs pieces of work concurrently on all connections. A piece is a function of a
        caller."""
        pieces = iter(list(work))

        def some(caller):
            for piece in pieces:
                piece(caller)

        # `next` of a list's iterator is atomic, so each piece runs only once.
        with ThreadPoolExecutor(len(self.callers)) as pool:
            list(pool.map(some, self.callers))

    def contest(self, organizer, places, tiers):
        """Creates and publishes a contest, which is locked later by a call. Returns its id."""
        token, caller = self.tokens[organizer], self.callers[organizer % CONNECTIONS]
        end = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 86_400))
        made = caller.post("/api/contests", {
            "template_id": QUIZ, "title": "Bench", "description": "Bench", "entry_fee_cents": FEE,
            "currency": "usd", "locks_at": end, "starts_at": end, "max_entries": places,
            "settle_after_seconds": 0, "tiers": tiers}, token)
        caller.post(f"/api/contests/{made['id']}/publish", {}, token)
        return made["id"]

    def fill(self, entries):
        """Enters users in contests. `entries` are pairs of a contest and the number of a user.
        Returns the entries per second."""

        def join(contest, user):
            path, body = f"/api/contests/{contest}/join", {"entry_fee_cents": FEE}
            return lambda caller: caller.post(path, body, self.tokens[user])

        started = time.perf_counter()
        self.all(join(*entry) for entry in entries)
        return len(entries) / (time.perf_counter() - started)

    def lock(self, contest, organizer):
        self.callers[0].post(f"/api/contests/{contest}/lock", {}, self.tokens[organizer])

    def finish(self, contest, organizer, entries):
        """Returns a piece of work that scores all entries, completes the contest and settles it."""
        token, place = self.tokens[organizer], f"/api/contests/{contest}"

        def piece(caller):
            revision = self.score(caller, contest, organizer, entries)
            caller.post(f"{place}/complete", {"revision": revision}, token)
            caller.post(f"{place}/settle", {}, token)

        return piece

    def score(self, caller, contest, organizer, entries):
        revision = 0
        for first in range(1, entries + 1, REVISION):
            scores = [{"entry_number": number, "points": number * 7 % 1_009}
                      for number in range(first, min(first + REVISION, entries + 1))]
            caller.post(f"/api/contests/{contest}/scores",
                        {"base_revision": revision, "scores": scores}, self.tokens[organizer])
            revision += 1
        return revision

    def small(self):
        """Measurement (a). Returns the seconds for scoring, completing and settling the small
        contests."""
        tiers = [{"rank_min": 1, "rank_max": 1, "share_bps": 6_000},
                 {"rank_min": 2, "rank_max": 3, "share_bps": 4_000}]
        contests = [self.contest(number, ENTRANTS, tiers) for number in range(SMALL)]
        self.fill([(contest, SMALL + number * ENTRANTS + entrant)
                   for number, contest in enumerate(contests) for entrant in range(ENTRANTS)])
        for number, contest in enumerate(contests):
            self.lock(contest, number)
        started = time.perf_counter()
        self.all(self.finish(contest, number, ENTRANTS) for number, contest in enumerate(contests))
        return time.perf_counter() - started

    def large(self):
        """Measurement (c): payments alone, during a large settlement, and during a large
        cancellation."""
        found = {"alone": self.pay(None)}
        tiers = [{"rank_min": 1, "rank_max": WINNERS, "share_bps": 10_000}]
        settled = self.contest(0, WINNERS, tiers)
        self.fill([(settled, user) for user in range(1, WINNERS + 1)])
        self.lock(settled, 0)
        revision = self.score(self.callers[0], settled, 0, WINNERS)
        place, token = f"/api/contests/{settled}", self.tokens[0]

        def settle(caller):
            # The server also settles the contest itself, because there is no review.
            caller.post(f"{place}/complete", {"revision": revision}, token)
            caller.post(f"{place}/settle", {}, token)

        found["settle"] = self.pay(settle)
        winners = [{"rank_min": 1, "rank_max": 1, "share_bps": 10_000}]
        cancelled = self.contest(0, ENTRIES, winners)
        found["joins_per_second"] = self.fill(
            [(cancelled, user) for user in range(1, ENTRIES + 1)])
        away = f"/api/contests/{cancelled}/cancel"
        found["cancel"] = self.pay(
            lambda caller: caller.post(away, {"reason": "Bench."}, token))
        return found

    def pay(self, beside):
        """Measures payments on many connections, and an action that starts while they run."""
        first = self.books.seed(SEEDS, False)
        self.books.checkpoint()
        options = self.options
        load = subprocess.Popen(
            [options.load, "--port", str(self.server.port), "--connections", str(PAYING),
             "--seconds", str(options.seconds), "--warmup", "1", "--first", str(first), "--count",
             str(SEEDS), "--users", str(len(self.tokens)), "--hot", "0", "--tokens",
             options.tokens], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        took = None
        if beside:
            time.sleep(1 + options.seconds / 4)
            started = time.perf_counter()
            beside(self.callers[0])
            took = time.perf_counter() - started
        output, _ = load.communicate()
        if load.returncode:
            raise SystemExit("The payments failed.")
        result = json.loads(output)
        return {"took_ms": took and took * 1_000,
                **{name: result[name] for name in ("per_second", "p50_ms", "p99_ms", "max_ms")}}


class Server(gotchu.Server):
    arguments = ("--contests",)


def users(options, database):
    """Creates users with a temporary server. Returns their names and tokens."""
    with Server(options.server, database, options.log) as server:
        return gotchu.log_in(server.port, ENTRIES + 1)


def stores(options):
    """Creates books with users in each store. Yields the books and the users' tokens."""
    if "sqlite" in options.stores:
        path = os.path.join(options.folder, "books.db")
        names, tokens = users(options, f"sqlite:{path}")
        yield seed.SQLiteBooks(path, names), tokens
    if "postgres" in options.stores:
        cluster = postgres.Cluster(options.folder)
        try:
            cluster.create("books")
            names, tokens = users(options, cluster.url("books"))
            books = seed.PostgreSQLBooks(cluster, "books", names)
            books.name_users()
            yield books, tokens
        finally:
            cluster.stop()


def measure(options, books, tokens):
    gotchu.write_tokens(options.tokens, tokens)
    with Server(options.server, books.database, options.log) as server:
        bench = Bench(options, server, books, tokens)
        result = {"store": books.kind, "small_seconds": bench.small(), **bench.large()}
    gotchu.verify(options.server, books.database)
    return result


def report(result):
    seconds = result["small_seconds"]
    verdict = "ok" if seconds < AIM else "MISSED"
    print(f"\n{result['store']}: {SMALL} contests of {ENTRANTS} scored, completed and settled over"
          f" {CONNECTIONS} connections: {seconds:.2f} s (aim < {AIM:g} s: {verdict})")
    print(f"  joins, {CONNECTIONS} at a time: {result['joins_per_second']:.0f}/s")
    for name, what in (("alone", f"{PAYING} payers alone"),
                       ("settle", f"beside a settlement with {WINNERS} winners"),
                       ("cancel", f"beside a cancellation of {ENTRIES} entries")):
        found = result[name]
        took = f" (it took {found['took_ms']:.0f} ms)" if found["took_ms"] else ""
        print(f"  {what}{took}: {found['per_second']:.0f} payments/s,"
              f" p50 {found['p50_ms']:.1f}, p99 {found['p99_ms']:.1f},"
              f" longest {found['max_ms']:.1f} ms")


def main():
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("--server", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--load", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--results", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=4, help="of payments, each time (4)")
    parser.add_argument("--stores", default="sqlite,postgres", help="sqlite,postgres")
    options = parser.parse_args()
    options.stores = options.stores.split(",")
    options.folder = tempfile.mkdtemp(prefix="gotchu-bench-")
    os.chmod(options.folder, 0o711)
    options.tokens = os.path.join(options.folder, "tokens")
    options.log = os.path.join(options.folder, "server.log")
    try:
        print("\n".join(machine.describe(options.folder)))
        results = []
        for books, tokens in stores(options):
            results.append(measure(options, books, tokens))
            report(results[-1])
        with open(options.results, "w") as file:
            json.dump(results, file, indent=1)
    finally:
        shutil.rmtree(options.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
