"""Locked sessions, written straight into the database: a payment then costs one request.

The n-th session's id, payer and payee follow from n; load.c and pgbench/payment.sql know the same
rules.
"""

import os
import sqlite3
import time

YEAR_MS = 365 * 24 * 3600 * 1000

# What both databases understand. {first} and {count} tell the numbers, {users} how many users.
PAYEE = {
    False: "(n % {users} + 1 + (n / {users}) % ({users} - 1)) % {users}",
    True: "0",
}
PAYER = {False: "n % {users}", True: "1 + n % ({users} - 1)"}

COLUMNS = """id, eid, payee_id, amount, currency, created_at, expires_at, status, payer_id,
    lock_expires_at, version, rotations, refunded"""


def rows(numbers, names, hexadecimal, is_hot, users):
    now = int(time.time() * 1000)
    payee, payer = (part[is_hot].format(users=users) for part in (PAYEE, PAYER))
    return f"""
        SELECT '00000000-0000-7000-8000-' || {hexadecimal.format(digits=12)},
            {hexadecimal.format(digits=10)}, payees.id, 1 + n % 100, 'usd', {now}, {now + YEAR_MS},
            'LOCKED', payers.id, {now + YEAR_MS}, 2, 0, 0
        FROM ({numbers}) AS numbers
        JOIN {names} AS payees ON payees.number = {payee}
        JOIN {names} AS payers ON payers.number = {payer}"""

# Sessions of ours begin with zeros; those that a server has made, with the time.
PAID = """SELECT count(*) FROM sessions WHERE status = 'PAID'
    AND id >= '00000000-0000-7000-8000-{first:012x}' AND id < '01'"""
SOLD = "SELECT count(*) FROM sessions WHERE status = 'PAID' AND id >= '01'"

# Events that are due to an endpoint where nobody listens; {numbers} has one row for each. It is for
# one payee, so that hardly a payment adds to them.
OWE = """
    DELETE FROM webhook_deliveries; DELETE FROM webhook_endpoints;
    INSERT INTO webhook_endpoints (id, url, payee_id, created_at, secret)
        SELECT 'away', 'http://127.0.0.1:9/away', min(id), 0, {secret} FROM users;
    INSERT INTO webhook_deliveries (endpoint_id, event_id, kind, session_id, happened_at, refunded,
            attempts, next_try_at, give_up_at)
        SELECT 'away', 'event-' || n, 'cancelled', session, {now}, 0, 0, {now} + n % 1000,
            {now} + 86400000
        FROM ({numbers}) AS numbers, (SELECT min(id) AS session FROM sessions) AS first;"""


class SQLiteBooks:
    kind = "SQLite"

    def __init__(self, path, users):
        self.database = f"sqlite:{path}"
        self.path = path
        self.users = users
        self.next = 1

    def connect(self):
        connection = sqlite3.connect(self.path, timeout=60)
        connection.execute("CREATE TEMP TABLE names (number INTEGER PRIMARY KEY, id TEXT)")
        connection.executemany("INSERT INTO names VALUES (?, ?)", enumerate(self.users))
        return connection

    def seed(self, count, is_hot):
        """Adds sessions that wait to be paid, and says the number of the first."""
        first, self.next = self.next, self.next + count
        numbers = f"""WITH RECURSIVE all_numbers (n) AS (
            VALUES ({first}) UNION ALL SELECT n + 1 FROM all_numbers WHERE n < {self.next - 1}
        ) SELECT n FROM all_numbers"""
        connection = self.connect()
        with connection:
            connection.execute(f"INSERT INTO sessions ({COLUMNS})" + rows(
                numbers, "names", "printf('%0{digits}x', n)", is_hot, len(self.users)))
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        connection.close()
        return first

    def paid(self, first):
        return self.ask(PAID.format(first=first))

    def sold(self):
        return self.ask(SOLD)

    def rest(self):
        """Leaves nothing to be written later of what was done before."""
        self.ask("PRAGMA wal_checkpoint(PASSIVE)")

    def ask(self, sql):
        """The number that a query finds."""
        connection = sqlite3.connect(self.path, timeout=60)
        count = connection.execute(sql).fetchone()[0]
        connection.close()
        return count

    def owe(self, count):
        """Has so many events due."""
        connection = sqlite3.connect(self.path, timeout=60)
        connection.executescript("BEGIN;" + OWE.format(
            secret="zeroblob(32)", now=int(time.time() * 1000), numbers=f"""
            WITH RECURSIVE all_numbers (n) AS (
                VALUES (0) UNION ALL SELECT n + 1 FROM all_numbers WHERE n < {count}
            ) SELECT n FROM all_numbers WHERE n > 0""") + "COMMIT;")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.close()

    def entries(self):
        return self.ask("SELECT count(*) FROM entries")

    def size(self):
        """Bytes of the books, and of the log written so far if that can be told."""
        return os.path.getsize(self.path), None

    def durability(self):
        connection = sqlite3.connect(self.path)
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        connection.close()
        if mode != "wal":
            raise SystemExit("SQLite's log is off: no figure of it counts.")
        return (f"SQLite {sqlite3.sqlite_version} · journal_mode={mode} · synchronous=FULL"
                " (the server reads it back and refuses to start without)")


class PostgreSQLBooks:
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
        first, self.next = self.next, self.next + count
        numbers = f"SELECT n FROM generate_series({first}::bigint, {self.next - 1}) AS n"
        sessions = rows(
            numbers, "bench.names", "lpad(to_hex(n), {digits}, '0')", is_hot, len(self.users))
        self.cluster.query(self.name, f"""
            WITH made AS (
                INSERT INTO sessions ({COLUMNS}) {sessions}
                RETURNING payee_id, id, lock_expires_at
            ) INSERT INTO open_sessions (payee_id, session_id, due_at) SELECT * FROM made;
            ANALYZE sessions; ANALYZE open_sessions; CHECKPOINT;""")
        return first

    def paid(self, first):
        return int(self.cluster.query(self.name, PAID.format(first=first)))

    def sold(self):
        return int(self.cluster.query(self.name, SOLD))

    def rest(self):
        """Leaves nothing to be written later of what was done before."""
        self.cluster.query(self.name, "ANALYZE; CHECKPOINT")

    def owe(self, count):
        self.cluster.query(self.name, OWE.format(
            secret="sha256('')", now=int(time.time() * 1000),
            numbers=f"SELECT n FROM generate_series(1, {count}) AS n") + """
            VACUUM ANALYZE webhook_deliveries; CHECKPOINT;""")

    def entries(self):
        return int(self.cluster.query(self.name, "SELECT count(*) FROM entries"))

    def size(self):
        size, log = self.cluster.query(
            self.name, "SELECT pg_database_size(current_database()) || ' ' ||"
            " (pg_current_wal_lsn() - '0/0'::pg_lsn)").split()
        return int(size), int(log)

    def durability(self):
        return self.cluster.settings()
