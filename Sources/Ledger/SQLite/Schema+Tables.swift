extension Schema {
    /// All tables.
    static let tables = """
        CREATE TABLE users (
            id TEXT PRIMARY KEY,
            email TEXT NOT NULL UNIQUE,
            display_name TEXT NOT NULL,
            created_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE wallets (
            id TEXT PRIMARY KEY,
            user_id TEXT REFERENCES users (id),
            system_account TEXT,
            currency TEXT NOT NULL,
            balance INTEGER NOT NULL,
            entry_count INTEGER NOT NULL CHECK (entry_count >= 0),
            CHECK ((user_id IS NULL) <> (system_account IS NULL)),
            CHECK (user_id IS NULL OR balance >= 0)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX wallets_of_users ON wallets (user_id, currency)
            WHERE user_id IS NOT NULL;
        CREATE UNIQUE INDEX wallets_of_system ON wallets (system_account, currency)
            WHERE system_account IS NOT NULL;

        CREATE TABLE sessions (
            id TEXT PRIMARY KEY,
            eid TEXT NOT NULL UNIQUE,
            payee_id TEXT NOT NULL REFERENCES users (id),
            amount INTEGER NOT NULL CHECK (amount > 0),
            currency TEXT NOT NULL,
            memo TEXT,
            reference TEXT,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL CHECK (expires_at > created_at),
            status TEXT NOT NULL CHECK (
                status IN ('CREATED', 'ADVERTISING', 'LOCKED', 'PAID', 'TIMEOUT', 'CANCEL')
            ),
            payer_id TEXT REFERENCES users (id),
            lock_expires_at INTEGER CHECK (lock_expires_at <= expires_at),
            paid_at INTEGER,
            version INTEGER NOT NULL CHECK (version > 0),
            rotations INTEGER NOT NULL CHECK (rotations >= 0),
            refunded INTEGER NOT NULL CHECK (
                refunded >= 0 AND refunded <= amount AND (refunded = 0 OR status = 'PAID')
            ),
            CHECK ((status IN ('LOCKED', 'PAID')) = (payer_id IS NOT NULL)),
            CHECK ((status = 'LOCKED') = (lock_expires_at IS NOT NULL)),
            CHECK ((status = 'PAID') = (paid_at IS NOT NULL)),
            CHECK (payer_id <> payee_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX sessions_alive ON sessions (payee_id) WHERE \(isLive);
        CREATE INDEX sessions_due ON sessions (coalesce(lock_expires_at, expires_at))
            WHERE \(isLive);

        CREATE TABLE retired_eids (
            eid TEXT PRIMARY KEY,
            session_id TEXT NOT NULL REFERENCES sessions (id),
            resolves_until INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE transfers (
            id TEXT PRIMARY KEY,
            kind TEXT NOT NULL,
            amount INTEGER NOT NULL CHECK (amount > 0),
            currency TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            session_id TEXT UNIQUE REFERENCES sessions (id),
            user_id TEXT REFERENCES users (id),
            idempotency_key TEXT,
            UNIQUE (user_id, idempotency_key),
            CHECK ((kind = 'PAYMENT') = (session_id IS NOT NULL)),
            CHECK ((session_id IS NULL) = (user_id IS NULL)),
            CHECK ((session_id IS NULL) = (idempotency_key IS NULL))
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE entries (
            wallet_id TEXT NOT NULL REFERENCES wallets (id),
            number INTEGER NOT NULL CHECK (number > 0),
            transfer_id TEXT NOT NULL REFERENCES transfers (id),
            amount INTEGER NOT NULL CHECK (amount <> 0),
            PRIMARY KEY (wallet_id, number)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE sends (
            user_id TEXT NOT NULL REFERENCES users (id),
            idempotency_key TEXT NOT NULL,
            fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
            session_id TEXT NOT NULL,
            request_id TEXT NOT NULL,
            decided_at INTEGER NOT NULL,
            transfer_id TEXT REFERENCES transfers (id),
            new_balance INTEGER,
            refusal TEXT,
            required INTEGER,
            available INTEGER,
            PRIMARY KEY (user_id, idempotency_key),
            CHECK ((transfer_id IS NULL) <> (refusal IS NULL)),
            CHECK ((transfer_id IS NULL) = (new_balance IS NULL))
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE refunds (
            user_id TEXT NOT NULL REFERENCES users (id),
            idempotency_key TEXT NOT NULL,
            fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
            session_id TEXT NOT NULL,
            request_id TEXT NOT NULL,
            decided_at INTEGER NOT NULL,
            transfer_id TEXT UNIQUE REFERENCES transfers (id),
            amount INTEGER CHECK (amount > 0),
            total INTEGER CHECK (total >= amount),
            new_balance INTEGER,
            refusal TEXT,
            required INTEGER,
            available INTEGER,
            PRIMARY KEY (user_id, idempotency_key),
            CHECK ((transfer_id IS NULL) <> (refusal IS NULL)),
            CHECK ((transfer_id IS NULL) = (amount IS NULL)),
            CHECK ((transfer_id IS NULL) = (total IS NULL)),
            CHECK ((transfer_id IS NULL) = (new_balance IS NULL))
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE probe (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            written_at INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE devices (
            id TEXT PRIMARY KEY,
            user_id TEXT NOT NULL REFERENCES users (id),
            name TEXT NOT NULL,
            scopes TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            family BLOB NOT NULL CHECK (length(family) = 32),
            current BLOB NOT NULL CHECK (length(current) = 32),
            previous BLOB CHECK (length(previous) = 32),
            generation INTEGER NOT NULL CHECK (generation >= 0),
            expires_at INTEGER NOT NULL,
            last_used_at INTEGER,
            revoked_at INTEGER,
            revocation TEXT,
            CHECK ((revoked_at IS NULL) = (revocation IS NULL))
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE seals (
            number INTEGER PRIMARY KEY CHECK (number > 0),
            transfer_id TEXT NOT NULL UNIQUE REFERENCES transfers (id),
            hash BLOB NOT NULL CHECK (length(hash) = 32)
        ) STRICT;

        CREATE TABLE webhook_endpoints (
            id TEXT PRIMARY KEY,
            url TEXT NOT NULL,
            payee_id TEXT REFERENCES users (id),
            created_at INTEGER NOT NULL,
            secret BLOB NOT NULL,
            disabled TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE webhook_deliveries (
            endpoint_id TEXT NOT NULL REFERENCES webhook_endpoints (id),
            event_id TEXT NOT NULL,
            kind TEXT NOT NULL,
            session_id TEXT NOT NULL REFERENCES sessions (id),
            happened_at INTEGER NOT NULL,
            refund INTEGER,
            refunded INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            next_try_at INTEGER NOT NULL,
            give_up_at INTEGER NOT NULL,
            dead_at INTEGER,
            last_error TEXT,
            PRIMARY KEY (endpoint_id, event_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_try_at)
            WHERE dead_at IS NULL;
        CREATE INDEX webhook_deliveries_dead ON webhook_deliveries (endpoint_id, event_id)
            WHERE dead_at IS NOT NULL;

        \(guarded("transfers"))
        \(guarded("entries"))
        \(guarded("seals"))
        """

    /// Refuses to change or remove rows of a table that only ever grows.
    private static func guarded(_ table: String) -> String {
        """
        CREATE TRIGGER \(table)_stay BEFORE UPDATE ON \(table)
            BEGIN SELECT RAISE(ABORT, '\(table) are only ever inserted'); END;
        CREATE TRIGGER \(table)_are_kept BEFORE DELETE ON \(table)
            BEGIN SELECT RAISE(ABORT, '\(table) are only ever inserted'); END;
        """
    }
}
