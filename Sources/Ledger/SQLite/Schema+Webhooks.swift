extension Schema {
    /// The outbox. What has arrived leaves it; what was given up stays.
    static let webhooks = """
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
        """
}
