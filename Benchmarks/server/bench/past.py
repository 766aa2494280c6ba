"""Writes old payments into PostgreSQL in the server's own form, so that the books get millions of
entries in minutes. `gotchu-server verify` can verify all of them.

A block has as many payments as there are users. In a block, every user pays once and is paid once,
with the same amount, so that the balances stay the same. Each account gets two entries per block.
They have the same time, which is one millisecond later than in the previous block."""

import time

from .seed import PAYEE, PAYER, SID

# The maximum number of payments in one statement. More would only enlarge its temporary files.
PAYMENTS_PER_STATEMENT = 500_000
# The maximum number of transfers in one batch.
SEALED_TOGETHER = 256


def add(books, count):
    """Adds at least `count` payments, in whole blocks. No server may run on the books."""
    users = len(books.users)
    first = -(-books.next // users) * users
    blocks = max(1, -(-count // users))
    books.next = first + blocks * users
    query(books, PREPARE)
    step = max(1, PAYMENTS_PER_STATEMENT // users) * users
    now = int(time.time() * 1000)
    for number, lowest in enumerate(range(first, books.next, step)):
        highest = min(lowest + step, books.next) - 1
        query(books, WRITE.format(
            first=first, lowest=lowest, highest=highest, users=users, sid=SID,
            chain=f"{now:012x}{number:08x}", together=SEALED_TOGETHER,
            payer=PAYER[False].format(users=users), payee=PAYEE[False].format(users=users),
            earned=EARNED.format(block=f"((n - {first}) / {users})")))
    query(books, f"""
        UPDATE accounts SET entry_count = entry_count + {2 * blocks},
            earned = earned + {EARNED.format(block=blocks)},
            changed_at = (SELECT max(at) FROM bench.purses) + {blocks}
        WHERE currency = 'usd' AND owner IN (SELECT owner FROM bench.purses);
        DROP TABLE bench.purses; VACUUM ANALYZE; CHECKPOINT""")


def query(books, sql):
    # Commits need not wait for the disk, because a checkpoint is made before the measurement.
    books.cluster.query(books.name, "SET synchronous_commit = off;" + sql)


# Every user's earnings before a block. The amounts of the blocks are 1 to 100, and then 1 again.
EARNED = "{block} / 100 * 5050 + {block} % 100 * ({block} % 100 + 1) / 2"

PREPARE = """
    CREATE TABLE bench.purses AS
        SELECT number, owner, entry_count AS entries, balance, earned,
            max(changed_at) OVER () AS at
        FROM bench.names JOIN accounts ON owner = names.id AND currency = 'usd';
    ALTER TABLE bench.purses ADD PRIMARY KEY (number);
    ANALYZE bench.purses;"""

WRITE = """
    CREATE TEMP TABLE lines AS
        SELECT n, '{sid}' || lpad(to_hex(n), 12, '0') AS record, purses.at + 1 + block AS at, owner,
            entries + 2 * block + place AS number, CASE place WHEN 1 THEN -moved ELSE moved END
            AS amount, balance - CASE place WHEN 1 THEN moved ELSE 0 END AS balance,
            earned + before + CASE place WHEN 1 THEN 0 ELSE moved END AS earned
        FROM (
            SELECT n, (n - {first}) / {users} AS block, 1 + (n - {first}) / {users} % 100 AS moved,
                {earned} AS before, {payer} AS payer, {payee} AS payee
            FROM generate_series({lowest}::bigint, {highest}) AS n
        ) AS payments
        CROSS JOIN (VALUES (1), (2)) AS places (place)
        JOIN bench.purses ON purses.number = CASE place WHEN 1 THEN payer ELSE payee END;
    CREATE TEMP TABLE past AS
        SELECT n, record, at, min(owner) FILTER (WHERE amount < 0) AS payer,
            min(owner) FILTER (WHERE amount > 0) AS payee, max(amount) AS amount,
            min(balance) FILTER (WHERE amount < 0) AS new_balance,
            lpad(to_hex(n), 10, '0') AS eid, 'past-' || lpad(to_hex(n), 16, '0') AS key,
            (n - {lowest}) / {together} + 1 AS seal,
            encode(sha256(convert_to(E'transfer\\n' || record || E'\\npaid', 'UTF8')), 'hex') AS id,
            sha256(convert_to(
                concat_ws(E'\\t', record, 'paid', 'PAYMENT', at, 2) || E'\\n' || string_agg(
                    concat_ws(E'\\t', owner, 'usd', number, at, amount, balance, earned) || E'\\n',
                    '' ORDER BY owner),
                'UTF8')) AS hash
        FROM lines GROUP BY n, record, at ORDER BY n;
    INSERT INTO records (id, kind, owner, state, version, created_at, body)
        SELECT record, 'session', payee, 'PAID', 3, at,
            '{{"amount":' || amount || ',"currency":"usd","eid":"' || eid || '","expiresAt":'
            || at + 300000 || ',"paidAt":' || at || ',"payer":"' || payer
            || '","refunded":0,"rotations":0}}'
        FROM past;
    INSERT INTO names (name, target) SELECT 'eid:' || eid, record FROM past;
    INSERT INTO transfers (record, step, kind, at, chain, seal, hash)
        SELECT record, 'paid', 'PAYMENT', at, '{chain}', seal, hash FROM past;
    INSERT INTO entries (owner, currency, number, record, step, kind, at, amount, balance, earned)
        SELECT owner, 'usd', number, record, 'paid', 'PAYMENT', at, amount, balance, earned
        FROM lines ORDER BY n;
    INSERT INTO answers (user_id, command, key, fingerprint, outcome, record, step, request_id,
            decided_at)
        SELECT payer, 'pay', key, sha256(record::bytea), '{{"newBalance":' || new_balance
            || ',"transfer":"' || concat_ws('-', substr(id, 1, 8), substr(id, 9, 4),
                '8' || substr(id, 14, 3),
                translate(substr(id, 17, 1), '0123456789abcdef', '89ab89ab89ab89ab')
                || substr(id, 18, 3), substr(id, 21, 12)) || '"}}',
            record, 'paid', 'past', at
        FROM past;
    CREATE TEMP TABLE sealed AS
        SELECT seal, string_agg(hash, '' ORDER BY n) AS hashes FROM past GROUP BY seal;
    ALTER TABLE sealed ADD PRIMARY KEY (seal);
    ANALYZE sealed;
    INSERT INTO seals (chain, number, previous, hash)
        WITH RECURSIVE run AS (
            SELECT 0::bigint AS number, ''::bytea AS previous, coalesce(
                (SELECT hash FROM seals ORDER BY chain DESC, number DESC LIMIT 1),
                decode(repeat('00', 32), 'hex')) AS hash
            UNION ALL
            SELECT number + 1, hash,
                sha256(hash || convert_to(E'{chain}\\n' || seal || E'\\n', 'UTF8') || hashes)
            FROM run JOIN sealed ON seal = number + 1
        ) SELECT '{chain}', number, previous, hash FROM run WHERE number > 0;"""
