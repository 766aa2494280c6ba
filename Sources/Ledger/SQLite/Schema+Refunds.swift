extension Schema {
    /// What was paid may go back.
    static let refunds = """
        ALTER TABLE sessions ADD COLUMN refunded INTEGER NOT NULL DEFAULT 0
            CHECK (refunded >= 0 AND refunded <= amount AND (refunded = 0 OR status = 'PAID'));
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
        """
}
