extension PostgreSQLSchema {
    /// The outbox. What has arrived leaves it; what was given up stays.
    static let webhooks = """
        CREATE TABLE webhook_endpoints (
            id text COLLATE "C" PRIMARY KEY,
            url text NOT NULL,
            payee_id text COLLATE "C" REFERENCES users (id),
            created_at bigint NOT NULL,
            secret bytea NOT NULL,
            disabled text
        );
        CREATE TABLE webhook_deliveries (
            endpoint_id text COLLATE "C" NOT NULL REFERENCES webhook_endpoints (id),
            event_id text COLLATE "C" NOT NULL,
            kind text COLLATE "C" NOT NULL,
            session_id text COLLATE "C" NOT NULL REFERENCES sessions (id),
            happened_at bigint NOT NULL,
            refund bigint,
            refunded bigint NOT NULL,
            attempts bigint NOT NULL,
            next_try_at bigint NOT NULL,
            give_up_at bigint NOT NULL,
            dead_at bigint,
            last_error text,
            PRIMARY KEY (endpoint_id, event_id)
        );
        CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_try_at)
            WHERE dead_at IS NULL;
        """
}
