"""The measurements. Each returns plain data, which report.py turns into text."""

import json
import os
import sqlite3
import statistics
import subprocess
import time
from contextlib import ExitStack, contextmanager

from . import gotchu, machine, past, peers, sale, seed, streams
from .postgres import Citus, Cluster

# Guesses of the payments per second, for use before the first measurement.
GUESS = {"gotchu": 12_000, "base": 12_000, "pgbench": 6_000, "fastapi": 3_000}
# A factor on the expected number of payments, so that a run does not use up its prepared sessions.
SPARE = 1.7
# The entries of the books with which larger books are compared.
SMALL_BOOKS = 10_000


class Bench:
    def __init__(self, options, folder, say):
        self.options = options
        self.folder = folder
        self.say = say
        self.rates = {}
        self.results = {"machine": machine.describe(folder), "options": vars(options)}

    def path(self, name):
        return os.path.join(self.folder, name)

    def server(self, database, program=None, settings=None):
        program = program or self.options.server
        return gotchu.Server(program, database, self.path("server.log"), settings)

    def prepare(self):
        """Creates the books of each store and for each compared program, with users."""
        self.results["durability"] = []
        self.stores = []
        self.base_stores = []
        self.take_stores = []
        if "sqlite" in self.options.stores:
            self.prepare_sqlite()
        if "postgres" in self.options.stores:
            self.prepare_postgres()
        if "citus" in self.options.stores:
            self.prepare_citus()
        if self.options.base and {"sale", "take", "pairs", "scale"} & set(self.options.only):
            self.base_stores = self.prepare_more("base", self.options.base)
        if "take" in self.options.only:
            self.take_stores = self.prepare_more("take")

    def prepare_sqlite(self):
        self.say("preparing SQLite")
        path = self.path("books.db")
        names, tokens = self.open_books(f"sqlite:{path}")
        self.sqlite = seed.SQLiteBooks(path, names)
        self.results["durability"].append(self.sqlite.durability())
        self.stores.append((self.sqlite, tokens))

    def open_books(self, database, program=None):
        """Creates books with users by a server. Returns the users' ids and tokens."""
        with self.server(database, program) as server:
            return gotchu.log_in(server.port, self.options.users)

    def prepare_more(self, name, program=None):
        """Creates books for another server, whose tables may differ from ours."""
        self.say(f"preparing the server to compare with: {name}")
        stores = []
        if "sqlite" in self.options.stores:
            path = self.path(f"{name}.db")
            names, tokens = self.open_books(f"sqlite:{path}", program)
            stores.append((seed.SQLiteBooks(path, names), tokens))
        if "postgres" in self.options.stores:
            self.cluster.create(name)
            names, tokens = self.open_books(self.cluster.url(name), program)
            books = seed.PostgreSQLBooks(self.cluster, name, names)
            books.name_users()
            stores.append((books, tokens))
        return stores

    def prepare_postgres(self):
        self.say("preparing PostgreSQL")
        self.cluster = Cluster(self.folder)
        self.cluster.create("ours")
        names, tokens = self.open_books(self.cluster.url("ours"))
        self.postgres = seed.PostgreSQLBooks(self.cluster, "ours", names)
        self.postgres.name_users()
        self.peers = {}
        for name in ("pgbench", "fastapi"):
            self.cluster.create(name, template="ours")
            self.peers[name] = seed.PostgreSQLBooks(self.cluster, name, names)
        if "growth" in self.options.only:
            self.cluster.create("growing", template="ours")
            self.growing = seed.PostgreSQLBooks(self.cluster, "growing", names)
        self.results["durability"].append(self.postgres.durability())
        self.stores.append((self.postgres, tokens))

    def prepare_citus(self):
        self.say("preparing Citus")
        self.citus = Citus(self.folder)
        self.citus.create("spread")
        database = self.citus.url("spread")
        gotchu.distribute(self.options.server, database)
        names, tokens = self.open_books(database)
        books = seed.CitusBooks(self.citus, "spread", names)
        books.name_users()
        self.results["durability"].append(books.durability())
        self.stores.append((books, tokens))

    def end(self):
        for name in ("cluster", "citus"):
            if hasattr(self, name):
                getattr(self, name).stop()

    def needed(self, system, is_hot, seconds):
        rate = self.rates.get((system, is_hot), GUESS[system])
        return int(rate * SPARE * (seconds + self.options.warmup)) + 2_000

    def load(self, server, books, tokens, system, connections, is_hot, seconds):
        """Makes payments over HTTP, and compares their number with the books. Returns the
        result."""
        count = self.needed(system, is_hot, seconds)
        first = books.seed(count, is_hot)
        log = books.size()[1]
        gotchu.write_tokens(self.path("tokens"), tokens)
        used = machine.cpu(server.root), books.cpu()
        done = subprocess.run(
            [self.options.load, "--port", str(server.port), "--connections", str(connections),
             "--seconds", str(seconds), "--warmup", str(self.options.warmup), "--first",
             str(first), "--count", str(count), "--users", str(len(tokens)), "--hot",
             str(int(is_hot)), "--tokens", self.path("tokens")],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise SystemExit(f"The load on {system} failed: {done.stdout}")
        result = json.loads(done.stdout)
        self.settle(result, system, books, first, connections, is_hot)
        if log is not None:
            result["log_bytes"] = (books.size()[1] - log) / result["paid"]
        result["server_us"] = (machine.cpu(server.root) - used[0]) / result["paid"] * 1e6
        result["database_us"] = (books.cpu() - used[1]) / result["paid"] * 1e6
        return result

    def settle(self, result, system, books, first, connections, is_hot):
        """Fails unless the books contain as many payments as were acknowledged. If the client
        reports where it stopped, exactly the sessions before must be paid."""
        kept = books.paid(first)
        right = books.paid(first, result["last"]) if "last" in result else kept
        if not kept == right == result["paid"]:
            raise SystemExit(f"{system}: {result['paid']} payments were acknowledged, {kept} are in"
                             f" the books, {right} of them of the right sessions.")
        result.update(system=system, store=books.kind, connections=connections, hot=is_hot,
                      load=machine.load())
        if connections >= 8:
            # The maximum is stored, because a shared machine may be much faster the next time.
            rate = self.rates.get((system, is_hot), 0)
            self.rates[system, is_hot] = max(rate, result["per_second"])

    def pgbench(self, connections, is_hot, seconds):
        books = self.peers["pgbench"]
        first = books.seed(self.needed("pgbench", is_hot, seconds) + connections, is_hot)
        used = books.cpu()
        result = peers.pgbench(
            self.cluster, books.name, "payment.sql", connections, seconds, self.options.warmup,
            self.folder, first=first, turn=0, clients=connections,
            run=f"{time.time_ns() // 1_000_000:012x}")
        self.settle(result, "pgbench", books, first, connections, is_hot)
        result["database_us"] = (books.cpu() - used) / result["paid"] * 1e6
        return result

    @contextmanager
    def servers(self, books, tokens):
        """Runs our server on these books and, if `--base` names another server, that server on its
        own books of the same kind."""
        with ExitStack() as stack:
            found = [("gotchu", stack.enter_context(self.server(books.database)), books, tokens)]
            found += [
                ("base", stack.enter_context(self.server(theirs.database, self.options.base)),
                 theirs, their_tokens)
                for theirs, their_tokens in self.base_stores if theirs.kind == books.kind]
            yield found

    def pairs(self, tokens):
        """Measures our server and the other programs in turns, with 64 connections on
        PostgreSQL."""
        rounds = []
        fastapi = peers.FastAPI(self.peers["fastapi"].database, self.path("fastapi.log"))
        theirs = fastapi.tokens(self.peers["fastapi"].users)
        seconds = self.options.seconds
        with self.servers(self.postgres, tokens) as servers, fastapi:
            for number in range(self.options.pairs):
                self.say(f"against pgbench and FastAPI, {number + 1} of {self.options.pairs}")
                found = {}
                for hot in (False, True) if number % 2 == 0 else (True, False):
                    for system, server, books, their_tokens in servers[::(-1) ** number]:
                        found[system, hot] = self.load(
                            server, books, their_tokens, system, 64, hot, seconds)
                    found["pgbench", hot] = self.pgbench(64, hot, seconds)
                    found["fastapi", hot] = self.load(
                        fastapi, self.peers["fastapi"], theirs, "fastapi", 64, hot, seconds)
                rounds.append(found)
        return rounds

    def scale(self, books, tokens):
        """Measures with each number of connections, with uniform payees and with one payee of
        all."""
        found = []
        with self.servers(books, tokens) as servers:
            for connections in self.options.connections:
                for hot in (False, True):
                    self.say(f"{books.kind}, {connections} connections, "
                             f"{'one payee' if hot else 'uniform'}")
                    found += [
                        self.load(server, books, tokens, system, connections, hot,
                                  self.options.seconds)
                        for system, server, books, tokens in servers]
        return found

    def single(self):
        """Measures a single client's payment and a bare commit on the same database, in turns."""
        found = {}
        seconds = max(1, self.options.seconds / 2)
        for books, tokens in self.stores:
            found[books.kind] = []
            with self.server(books.database) as server:
                for _ in range(self.options.pairs):
                    self.say(f"{books.kind}, a lone client against a bare commit")
                    payment = self.load(server, books, tokens, "gotchu", 1, False, seconds)
                    commit = self.commit(books, seconds)
                    found[books.kind].append((payment["p50_ms"], commit))
        return found

    def commit(self, books, seconds):
        """Returns the median time of a bare commit, in milliseconds."""
        if books.kind == "PostgreSQL":
            return peers.pgbench(
                self.cluster, books.name, "commit.sql", 1, seconds, 0, self.folder)["p50_ms"]
        path = self.path("commit.db")
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE IF NOT EXISTS one (number INTEGER)")
        times, until = [], time.monotonic() + seconds
        while time.monotonic() < until:
            start = time.perf_counter()
            connection.execute("INSERT INTO one VALUES (1)")
            times.append(time.perf_counter() - start)
        connection.close()
        return statistics.median(times) * 1000

    def growth(self, tokens):
        """Measures the cost of a payment in CPU and time with books that grow."""
        books = self.growing
        found = []
        target = min(SMALL_BOOKS, self.options.entries)
        while True:
            self.say(f"{books.kind}, growing to {target} entries")
            past.add(books, (target - books.entries()) // 2)
            entries = books.entries()
            with self.server(books.database) as server:
                result = self.load(server, books, tokens, "gotchu", 64, False, self.options.seconds)
            found.append(dict(result, entries=entries, bytes=books.size()[0]))
            self.say(f"{books.kind}, {entries} entries: {result['per_second']:.0f}/s")
            if target >= self.options.entries:
                return found
            # The measurement has added entries too, so the next step adds only the rest.
            target = min(self.options.entries, target * 10)

    def backlog(self, books, tokens):
        """Measures payments with no events due, and with many events due to an endpoint that does
        not answer, in turns."""
        found = []
        for number in range(self.options.pairs):
            pair = {}
            counts = (0, self.options.due)
            for due in counts if number % 2 == 0 else reversed(counts):
                self.say(f"{books.kind}, {due} events due")
                books.set_due_events(due)
                with self.server(books.database) as server:
                    pair[due > 0] = self.load(
                        server, books, tokens, "gotchu", 64, False, self.options.seconds)
            found.append((pair[False], pair[True]))
        books.set_due_events(0)
        return found

    def sales(self):
        return sale.measure(self, list(sale.contestants(self)))

    def takes(self):
        return sale.measure(self, list(sale.takers(self)), sale.TAKE_CONNECTIONS)

    def idle_streams(self, books, tokens):
        count = streams.open_files(self.options.streams)
        first = books.seed(count, False)
        with self.server(books.database) as server:
            self.say(f"{count} idle streams")
            return streams.measure(server, len(tokens), tokens, first, count)

    def verify(self):
        all_books = [books for books, _ in self.stores + self.take_stores]
        # The books of the other programs must be as correct as the server's.
        all_books += getattr(self, "peers", {}).values()
        if hasattr(self, "growing"):
            all_books.append(self.growing)
        for books in all_books:
            self.say(f"verifying {books.database}")
            gotchu.verify(self.options.server, books.database)
        for books, _ in self.base_stores:
            gotchu.verify(self.options.base, books.database)
