"""The statements of seed.py for the tables of older servers, which have no accounts and records, so
that such a server can be compared."""

MARK = "wallets"

INTO_SESSIONS = """
    INSERT INTO sessions (id, eid, payee_id, amount, currency, created_at, expires_at, status,
            payer_id, lock_expires_at, version, rotations, refunded)
        SELECT {sid}, {eid}, payees.id, 1 + n % 100, 'usd', {now}, {until}, 'LOCKED', payers.id,
            {until}, 2, 0, 0
        {source};"""
INTO_OPEN_SESSIONS = """
    INSERT INTO open_sessions (payee_id, session_id, due_at)
        SELECT payee_id, id, lock_expires_at FROM sessions WHERE id BETWEEN {these};"""

SEED = {"SQLite": INTO_SESSIONS, "PostgreSQL": INTO_SESSIONS + INTO_OPEN_SESSIONS}
SEEDED = ("sessions", "open_sessions")

PAID = "SELECT count(*) FROM sessions WHERE status = 'PAID' AND {which}"
