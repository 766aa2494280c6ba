"""Writes locked sessions directly into the database, so that a payment needs only one request.

The id, the payer and the payee of the n-th session are computed from n. load.c and
pgbench/payment.sql use the same rules."""

import os
import sqlite3
import time
from functools import cached_property

from . import seed_before

YEAR_MS = 365 * 24 * 3600 * 1000
SID = "00000000-0000-7000-8000-"

PAYEE = {
    False: "(n % {users} + 1 + (n / {users}) % ({users} - 1)) % {users}",
    True: "0",
}
PAYER = {False: "n % {users}", True: "1 + n % ({users} - 1)"}


class Tables:
    """The statements, which all kinds of databases understand."""

    # {source} has rows with n, and with the payee and the payer of the n-th session.
    SEED = dict.fromkeys(("SQLite", "PostgreSQL", "Citus"), """
    INSERT INTO records (id, kind, owner, state, version, created_at, due_at, body)
        SELECT {sid}, 'session', payees.id, 'LOCKED', 2, {now}, {until},
            '{{"amount":' || (1 + n % 100) || ',"currency":"usd","eid":"' || {eid}
            || '","expiresAt":{until},"lockedUntil":{until},"payer":"' || payers.id
            || '","refunded":0,"rotations":0}}'
        {source};
    INSERT INTO due (owner, record, kind, due_at)
        SELECT owner, id, kind, due_at FROM records WHERE id BETWEEN {these};
    INSERT INTO names (name, target)
        SELECT 'eid:' || substr(id, 27), id FROM records WHERE id BETWEEN {these};""")
    SEEDED = ("records", "due", "names")

    PAID = "SELECT count(*) FROM records WHERE kind = 'session' AND state = 'PAID' AND {which}"

    # Adds events that are due to an endpoint that does not answer, one for each row of {numbers}.
    # The endpoint belongs to one payee, so that hardly any payment adds an event for it.
    DUE_EVENTS = """
    DELETE FROM deliveries; DELETE FROM endpoints;
    INSERT INTO endpoints (id, url, owner, created_at, secret)
        SELECT 'away', 'http://127.0.0.1:9/away', min(id), 0, {secret} FROM users;
    INSERT INTO deliveries (endpoint, event, kind, record, owner, at, body, attempts, next_try_at,
            give_up_at)
        SELECT 'away', 'event-' || n, 'session.cancelled', id, owner, {now}, body, 0,
            {now} + n % 1000, {now} + 86400000
        FROM ({numbers}) AS numbers,
            (SELECT id, owner, body FROM records ORDER BY id LIMIT 1) AS first;"""


class Books:
    """The common part of all kinds of books. Their method `has` is true if a table exists."""

    @cached_property
    def tables(self):
        return seed_before if self.has(seed_before.MARK) else Tables

    def seeding(self, count, is_hot, numbers, names, hexadecimal):
        """Returns the number of the first of `count` new sessions, and the SQL that adds them."""
        first, self.next = self.next, self.next + count
        now = int(time.time() * 1000)
        payee, payer = (
            part[is_hot].format(users=len(self.users)) for part in (PAYEE, PAYER))
        return first, self.tables.SEED[self.kind].format(
            sid=f"'{SID}' || {hexadecimal.format(digits=12)}", eid=hexadecimal.format(digits=10),
            now=now, until=now + YEAR_MS,
            these=f"'{SID}{first:012x}' AND '{SID}{self.next - 1:012x}'",
            source=f"""FROM ({numbers.format(first=first, last=self.next - 1)}) AS numbers
                JOIN {names} AS payees ON payees.number = {payee}
                JOIN {names} AS payers ON payers.number = {payer}""")

    # The ids of seeded sessions begin with zeros. The ids of sessions that a server makes begin
    # with the time.
    def paid(self, first, end=None):
        """Returns the number of paid sessions from number `first`, up to `end` if it is given."""
        until = "01" if end is None else f"{SID}{end:012x}"
        return self.ask(self.tables.PAID.format(
            which=f"id >= '{SID}{first:012x}' AND id < '{until}'"))

    def sold(self):
        return self.ask(self.tables.PAID.format(which="id >= '01'"))

    def taken(self):
        """Returns the sum of all takes from sales, in cents."""
        if not self.has("accounts"):
            return 0
        return self.ask("SELECT coalesce(sum(balance), 0) FROM accounts"
                        " WHERE owner >= 'TAKE:' AND owner < 'TAKE;'")

    def entries(self):
        return self.ask("SELECT count(*) FROM entries")

    def cpu(self):
        """Returns the CPU seconds of the database's own processes."""
        return 0


class SQLiteBooks(Books):
    kind = "SQLite"

    def __init__(self, path, users):
        self.database = f"sqlite:{path}"
        self.path = path
        self.users = users
        self.next = 1

    def connect(self):
        connection = sqlite3.connect(self.path, timeout=60)
        connection.execute("CREATE TEMP TABLE people (number INTEGER PRIMARY KEY, id TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", enumerate(self.users))
        return connection

    def seed(self, count, is_hot):
        """Adds sessions that can be paid, and returns the number of the first."""
        numbers = """WITH RECURSIVE all_numbers (n) AS (
            VALUES ({first}) UNION ALL SELECT n + 1 FROM all_numbers WHERE n < {last}
        ) SELECT n FROM all_numbers"""
        first, sql = self.seeding(count, is_hot, numbers, "people", "printf('%0{digits}x', n)")
        connection = self.connect()
        connection.executescript(f"BEGIN; {sql} COMMIT;")
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        connection.close()
        return first

    def has(self, table):
        return self.ask(f"SELECT count(*) FROM sqlite_schema WHERE name = '{table}'") > 0

    def checkpoint(self):
        """Writes out everything that is still pending from before."""
        self.ask("PRAGMA wal_checkpoint(PASSIVE)")

    def ask(self, sql):
        """The number that a query returns."""
        connection = sqlite3.connect(self.path, timeout=60)
        count = connection.execute(sql).fetchone()[0]
        connection.close()
        return count

    def set_due_events(self, count):
        """Replaces all due events by `count` events."""
        connection = sqlite3.connect(self.path, timeout=60)
        connection.executescript("BEGIN;" + Tables.DUE_EVENTS.format(
            secret="zeroblob(32)", now=int(time.time() * 1000), numbers=f"""
            WITH RECURSIVE all_numbers (n) AS (
                VALUES (0) UNION ALL SELECT n + 1 FROM all_numbers WHERE n < {count}
            ) SELECT n FROM all_numbers WHERE n > 0""") + "COMMIT;")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.close()

    def size(self):
        """Returns the size of the books in bytes, and the bytes of the log written so far, if
        known."""
        return os.path.getsize(self.path), None

    def durability(self):
        connection = sqlite3.connect(self.path)
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        connection.close()
        if mode != "wal":
            raise SystemExit("SQLite's log is off: no figure of it counts.")
        return (f"SQLite {sqlite3.sqlite_version} · journal_mode={mode} · synchronous=FULL"
                " (the server reads it back and refuses to start without)")


class PostgreSQLBooks(Books):
    kind = "PostgreSQL"

    def __init__(self, cluster, name, users):
        self.cluster = cluster
        self.name = name
        self.database = cluster.url(name)
        self.users = users
        self.next = 1

    def name_users(self):
        values = ",".join(f"({number}, '{user}')" for number, user in enumerate(self.users))
        self.cluster.query(self.name, f"""
            CREATE SCHEMA bench;
            CREATE TABLE bench.names (number bigint PRIMARY KEY, id text COLLATE "C");
            CREATE TABLE bench.one (number bigint);
            INSERT INTO bench.one VALUES (0);
            INSERT INTO bench.names VALUES {values};
            ANALYZE;""")

    def seed(self, count, is_hot):
        numbers = "SELECT n FROM generate_series({first}::bigint, {last}) AS n"
        first, sql = self.seeding(
            count, is_hot, numbers, "bench.names", "lpad(to_hex(n), {digits}, '0')")
        self.cluster.query(
            self.name, f"BEGIN; {sql} COMMIT; ANALYZE {', '.join(self.tables.SEEDED)}; CHECKPOINT;")
        return first

    def has(self, table):
        return self.ask(f"SELECT count(*) FROM pg_tables WHERE tablename = '{table}'") > 0

    def ask(self, sql):
        """The number that a query returns."""
        return int(self.cluster.query(self.name, sql))

    def checkpoint(self):
        """Writes out everything that is still pending from before."""
        self.cluster.query(self.name, "ANALYZE; CHECKPOINT")

    def set_due_events(self, count):
        self.cluster.query(self.name, Tables.DUE_EVENTS.format(
            secret="sha256('')", now=int(time.time() * 1000),
            numbers=f"SELECT n FROM generate_series(1, {count}) AS n") + """
            VACUUM ANALYZE deliveries; CHECKPOINT;""")

    def size(self):
        size, log = self.cluster.query(
            self.name, "SELECT pg_database_size(current_database()) || ' ' ||"
            " (pg_current_wal_lsn() - '0/0'::pg_lsn)").split()
        return int(size), int(log)

    def durability(self):
        return self.cluster.settings()

    def cpu(self):
        return self.cluster.cpu()


class CitusBooks(PostgreSQLBooks):
    kind = "Citus"
