extension PostgreSQLSchema {
    /// All tables, with the columns of the SQLite store. Ids sort by their bytes, as there,
    /// whatever the database's language is.
    ///
    /// * References that a payment or its seal would touch are left out: looking for what each row
    ///   leads to costs the database a fifth of its work for a payment (docs/benchmarks.md) and
    ///   finds nothing, because the writer has loaded and locked those rows in the same transaction
    ///   and none of them is ever removed. `verify` looks at every one (`Reference.unwatched`).
    /// * Sessions that are not over have a table of their own, and pages of `sessions` have room:
    ///   no index of `sessions` changes with a lock or a payment, which are heap-only updates
    ///   (PostgreSQL manual, 73.7).
    static let tables = """
        CREATE TABLE users (
            id text COLLATE "C" PRIMARY KEY,
            email text COLLATE "C" NOT NULL UNIQUE,
            display_name text NOT NULL,
            created_at bigint NOT NULL
        );

        CREATE TABLE wallets (
            id text COLLATE "C" PRIMARY KEY,
            user_id text COLLATE "C" REFERENCES users (id),
            system_account text COLLATE "C",
            currency text COLLATE "C" NOT NULL,
            balance bigint NOT NULL,
            entry_count bigint NOT NULL CHECK (entry_count >= 0),
            CHECK ((user_id IS NULL) <> (system_account IS NULL)),
            CHECK (user_id IS NULL OR balance >= 0)
        );
        CREATE UNIQUE INDEX wallets_of_users ON wallets (user_id, currency);
        CREATE UNIQUE INDEX wallets_of_system ON wallets (system_account, currency)
            WHERE system_account IS NOT NULL;

        CREATE TABLE sessions (
            id text COLLATE "C" PRIMARY KEY,
            eid text COLLATE "C" NOT NULL UNIQUE,
            payee_id text COLLATE "C" NOT NULL REFERENCES users (id),
            amount bigint NOT NULL CHECK (amount > 0),
            currency text COLLATE "C" NOT NULL,
            memo text,
            reference text,
            created_at bigint NOT NULL,
            expires_at bigint NOT NULL CHECK (expires_at > created_at),
            status text COLLATE "C" NOT NULL CHECK (
                status IN ('CREATED', 'ADVERTISING', 'LOCKED', 'PAID', 'TIMEOUT', 'CANCEL')
            ),
            payer_id text COLLATE "C" REFERENCES users (id),
            lock_expires_at bigint CHECK (lock_expires_at <= expires_at),
            paid_at bigint,
            version bigint NOT NULL CHECK (version > 0),
            rotations bigint NOT NULL CHECK (rotations >= 0),
            refunded bigint NOT NULL CHECK (
                refunded >= 0 AND refunded <= amount AND (refunded = 0 OR status = 'PAID')
            ),
            CHECK ((status IN ('LOCKED', 'PAID')) = (payer_id IS NOT NULL)),
            CHECK ((status = 'LOCKED') = (lock_expires_at IS NOT NULL)),
            CHECK ((status = 'PAID') = (paid_at IS NOT NULL)),
            CHECK (payer_id <> payee_id)
        ) WITH (fillfactor = 50);

        CREATE TABLE open_sessions (
            payee_id text COLLATE "C" NOT NULL,
            session_id text COLLATE "C" NOT NULL,
            due_at bigint NOT NULL,
            PRIMARY KEY (payee_id, session_id)
        );
        CREATE INDEX open_sessions_due ON open_sessions (due_at);

        CREATE TABLE retired_eids (
            eid text COLLATE "C" PRIMARY KEY,
            session_id text COLLATE "C" NOT NULL REFERENCES sessions (id),
            resolves_until bigint NOT NULL
        );

        CREATE TABLE transfers (
            id text COLLATE "C" PRIMARY KEY,
            kind text COLLATE "C" NOT NULL,
            amount bigint NOT NULL CHECK (amount > 0),
            currency text COLLATE "C" NOT NULL,
            created_at bigint NOT NULL,
            session_id text COLLATE "C" UNIQUE,
            user_id text COLLATE "C",
            idempotency_key text COLLATE "C",
            UNIQUE (user_id, idempotency_key),
            CHECK ((kind = 'PAYMENT') = (session_id IS NOT NULL)),
            CHECK ((session_id IS NULL) = (user_id IS NULL)),
            CHECK ((session_id IS NULL) = (idempotency_key IS NULL))
        );

        CREATE TABLE entries (
            wallet_id text COLLATE "C" NOT NULL,
            number bigint NOT NULL CHECK (number > 0),
            transfer_id text COLLATE "C" NOT NULL,
            amount bigint NOT NULL CHECK (amount <> 0),
            PRIMARY KEY (wallet_id, number)
        );

        CREATE TABLE sends (
            user_id text COLLATE "C" NOT NULL,
            idempotency_key text COLLATE "C" NOT NULL,
            fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
            session_id text COLLATE "C" NOT NULL,
            request_id text NOT NULL,
            decided_at bigint NOT NULL,
            transfer_id text COLLATE "C",
            new_balance bigint,
            refusal text COLLATE "C",
            required bigint,
            available bigint,
            PRIMARY KEY (user_id, idempotency_key),
            CHECK ((transfer_id IS NULL) <> (refusal IS NULL)),
            CHECK ((transfer_id IS NULL) = (new_balance IS NULL))
        );

        CREATE TABLE refunds (
            user_id text COLLATE "C" NOT NULL REFERENCES users (id),
            idempotency_key text COLLATE "C" NOT NULL,
            fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
            session_id text COLLATE "C" NOT NULL,
            request_id text NOT NULL,
            decided_at bigint NOT NULL,
            transfer_id text COLLATE "C" UNIQUE REFERENCES transfers (id),
            amount bigint CHECK (amount > 0),
            total bigint CHECK (total >= amount),
            new_balance bigint,
            refusal text COLLATE "C",
            required bigint,
            available bigint,
            PRIMARY KEY (user_id, idempotency_key),
            CHECK ((transfer_id IS NULL) <> (refusal IS NULL)),
            CHECK ((transfer_id IS NULL) = (amount IS NULL)),
            CHECK ((transfer_id IS NULL) = (total IS NULL)),
            CHECK ((transfer_id IS NULL) = (new_balance IS NULL))
        );

        CREATE TABLE probe (
            id bigint PRIMARY KEY CHECK (id IN (1, 2, 3)),
            written_at bigint NOT NULL
        );

        CREATE TABLE devices (
            id text COLLATE "C" PRIMARY KEY,
            user_id text COLLATE "C" NOT NULL REFERENCES users (id),
            name text NOT NULL,
            scopes text NOT NULL,
            created_at bigint NOT NULL,
            family bytea NOT NULL CHECK (octet_length(family) = 32),
            current bytea NOT NULL CHECK (octet_length(current) = 32),
            previous bytea CHECK (octet_length(previous) = 32),
            generation bigint NOT NULL CHECK (generation >= 0),
            expires_at bigint NOT NULL,
            last_used_at bigint,
            revoked_at bigint,
            revocation text COLLATE "C",
            CHECK ((revoked_at IS NULL) = (revocation IS NULL))
        );

        CREATE TABLE secrets (
            name text COLLATE "C" PRIMARY KEY,
            secret bytea NOT NULL
        );

        CREATE TABLE seals (
            number bigint PRIMARY KEY CHECK (number > 0),
            transfer_id text COLLATE "C" NOT NULL UNIQUE,
            hash bytea NOT NULL CHECK (octet_length(hash) = 32)
        );

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
        CREATE INDEX webhook_deliveries_dead ON webhook_deliveries (endpoint_id, event_id)
            WHERE dead_at IS NOT NULL;

        \(guarded("transfers"))
        \(guarded("entries"))
        \(guarded("seals"))
        """

    /// Refuses to change or remove rows of a table that only ever grows.
    ///
    /// A trigger would need a function in another language. A rule whose query fails is plain SQL;
    /// the text that is no number becomes the error's message.
    private static func guarded(_ table: String) -> String {
        let refusal = "SELECT CAST((SELECT '\(table) are only ever inserted'::text) AS bigint)"
        return """
            CREATE RULE \(table)_stay AS ON UPDATE TO \(table) DO INSTEAD \(refusal);
            CREATE RULE \(table)_are_kept AS ON DELETE TO \(table) DO INSTEAD \(refusal);
            REVOKE TRUNCATE ON \(table) FROM CURRENT_USER;
            """
    }
}
