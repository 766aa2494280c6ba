"""Payments of long ago, written into PostgreSQL as the server would have written them: so the books
have millions of entries in minutes, and `gotchu-server verify` still proves all of it.

In each block of as many payments as there are users everybody pays once and is paid once, all the
same amount: balances stay as they are, and each wallet gets two entries a block.
"""

import hashlib
import subprocess
import time

from .seed import PAYEE, PAYER, YEAR_MS

CURRENCY = "usd"
# Rows in the hand of one statement; more would only make its temporary files larger.
STRETCH = 500_000


def add(books, count):
    """Adds at least so many payments, in whole blocks. No server may run on the books."""
    users = len(books.users)
    first = -(-books.next // users) * users
    blocks = max(1, -(-count // users))
    books.next = first + blocks * users
    start = int(time.time() * 1000) - YEAR_MS
    query(books, PREPARE)
    step = max(1, STRETCH // users) * users
    for lowest in range(first, books.next, step):
        highest = min(lowest + step, books.next) - 1
        query(books, WRITE.format(
            first=first, lowest=lowest, highest=highest, users=users, start=start,
            payer=PAYER[False].format(users=users), payee=PAYEE[False].format(users=users)))
    query(books, f"UPDATE wallets SET entry_count = entry_count + {2 * blocks} WHERE user_id IN"
                 " (SELECT user_id FROM bench.purses) AND currency = 'usd'")
    seal(books, first, start)
    query(books, "DROP TABLE bench.purses; VACUUM ANALYZE; CHECKPOINT")


def query(books, sql):
    # References are not looked up row by row, and nobody waits for the disk: verify looks at all of
    # it in the end, and a checkpoint comes before anything is measured.
    books.cluster.query(
        books.name, "SET session_replication_role = replica; SET synchronous_commit = off;" + sql)


def transfer(number, start):
    """The name of the n-th, as old as it is."""
    digits = f"{start + number:012x}"
    return f"{digits[:8]}-{digits[8:]}-7000-8000-{number:012x}"


def seal(books, first, start):
    """Continues the chain over them, as the sealer would."""
    found = books.cluster.query(
        books.name, "SELECT number || ' ' || encode(hash, 'hex') FROM seals"
        " ORDER BY number DESC LIMIT 1")
    last, head = found.split() if found else ("0", "00" * 32)
    last, head = int(last), bytes.fromhex(head)
    writer = subprocess.Popen(
        [f"{books.cluster.bin}/psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h",
         books.cluster.folder, "-U", "postgres", "-d", books.name, "-c",
         "SET session_replication_role = replica", "-c",
         "COPY seals (number, transfer_id, hash) FROM STDIN"],
        stdin=subprocess.PIPE, text=True)
    users = books.users
    for number in range(first, books.next):
        payer = number % len(users)
        payee = (payer + 1 + (number // len(users)) % (len(users) - 1)) % len(users)
        last += 1
        name = transfer(number, start)
        text = "\n".join((
            str(last), name, "PAYMENT", CURRENCY, str(amount(number, first, len(users))),
            str(start + number), f"00000000-0000-7000-8000-{number:012x}", users[payee],
            users[payer], users[payer], f"past-{number:016x}"))
        head = hashlib.sha256(head + text.encode()).digest()
        writer.stdin.write(f"{last}\t{name}\t\\\\x{head.hex()}\n")
    writer.stdin.close()
    if writer.wait():
        raise SystemExit("The seals of the past could not be written.")


def amount(number, first, users):
    return 1 + (number - first) // users % 100


PREPARE = """
    CREATE TABLE bench.purses AS
        SELECT names.number, user_id, wallets.id AS wallet_id, entry_count AS entries, balance
        FROM bench.names JOIN wallets ON user_id = names.id AND currency = 'usd';
    ALTER TABLE bench.purses ADD PRIMARY KEY (number);
    ANALYZE bench.purses;"""

WRITE = """
    CREATE TEMP TABLE past AS
        SELECT '00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0') AS session,
            lpad(to_hex(n), 10, '0') AS eid, {start} + n AS at,
            substr(lpad(to_hex({start} + n), 12, '0'), 1, 8) || '-'
                || substr(lpad(to_hex({start} + n), 12, '0'), 9) || '-7000-8000-'
                || lpad(to_hex(n), 12, '0') AS transfer,
            'past-' || lpad(to_hex(n), 16, '0') AS key,
            (n - {first}) / {users} AS block, 1 + (n - {first}) / {users} % 100 AS amount,
            payer.user_id AS payer, payer.wallet_id AS source, payer.entries AS source_entries,
            payer.balance AS balance, payee.user_id AS payee, payee.wallet_id AS destination,
            payee.entries AS destination_entries
        FROM generate_series({lowest}::bigint, {highest}) AS n
        JOIN bench.purses AS payer ON payer.number = {payer}
        JOIN bench.purses AS payee ON payee.number = {payee}
        ORDER BY n;
    INSERT INTO sessions (id, eid, payee_id, amount, currency, created_at, expires_at, status,
            payer_id, paid_at, version, rotations, refunded)
        SELECT session, eid, payee, amount, 'usd', at, at + 300000, 'PAID', payer, at, 3, 0, 0
        FROM past;
    INSERT INTO transfers (id, kind, amount, currency, created_at, session_id, user_id,
            idempotency_key)
        SELECT transfer, 'PAYMENT', amount, 'usd', at, session, payer, key FROM past;
    INSERT INTO entries (wallet_id, number, transfer_id, amount)
        SELECT source, source_entries + 2 * block + 1, transfer, -amount FROM past
        UNION ALL
        SELECT destination, destination_entries + 2 * block + 2, transfer, amount FROM past;
    INSERT INTO sends (user_id, idempotency_key, fingerprint, session_id, request_id, decided_at,
            transfer_id, new_balance)
        SELECT payer, key, sha256(session::bytea), session, 'past', at, transfer, balance - amount
        FROM past;"""
