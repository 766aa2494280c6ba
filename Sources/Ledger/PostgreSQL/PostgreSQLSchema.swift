internal import Postgres

/// The tables, as numbered steps that only ever go forward. Plain SQL: no functions, no sequences.
enum PostgreSQLSchema {
    /// Step n brings a database from version n-1 to n. A step that has been released never changes.
    static let steps = [first, seals, webhooks, answers, references, openSessions]

    static var newestVersion: Int64 { Int64(steps.count) }

    static let version = "SELECT coalesce(max(version), 0) FROM gotchu_migrations"

    private static let startingTogether = 10
    private static let longestMigration: Duration = .seconds(3_600)

    /// Brings the database to the newest version; nothing is written if it is there.
    ///
    /// Several servers may start at once: the lock lets one of them do it, and the others find it
    /// done.
    ///
    /// - Throws: `LedgerError` with `foreign` for a newer database, or one that is not ours.
    static func migrate(_ connection: borrowing Connection) throws {
        for attempt in 1... {
            do {
                guard try checkedVersion(of: connection) < newestVersion else { return }
                try requireAllText(connection)
                try step(connection)
                return
            } catch let error as PostgresError {
                // Two servers made the table of versions at once.
                let isRace = error.kind == .conflict || error.state == .duplicateTable
                guard isRace, attempt < startingTogether else { throw error }
                if connection.isInTransaction { try connection.execute("ROLLBACK") }
            }
        }
    }

    /// Refuses a database to which some names and memos cannot be written: whoever uses one would
    /// be told for ever to try again. `SQL_ASCII` keeps any text as it is.
    private static func requireAllText(_ connection: borrowing Connection) throws {
        let encodings = try connection.query(
            "SELECT coalesce(current_setting('server_encoding', true), 'UTF8')",
            read: { try $0.text(0) }
        )
        guard encodings.allSatisfy({ ["UTF8", "SQL_ASCII"].contains($0) }) else {
            throw LedgerError(
                .cannotOpen,
                "The database cannot hold every text: its encoding is not UTF8.",
                fix: "Make another one: createdb --encoding UTF8 --template template0."
            )
        }
    }

    private static func step(_ connection: borrowing Connection) throws {
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS gotchu_migrations (
                version bigint PRIMARY KEY,
                migrated_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP
            )
            """
        )
        try connection.execute("BEGIN; LOCK TABLE gotchu_migrations IN ACCESS EXCLUSIVE MODE")
        do {
            let version = try checkedVersion(of: connection)
            for (index, step) in steps.enumerated().dropFirst(Int(version)) {
                try connection.execute(
                    "SET LOCAL statement_timeout = 0;\n\(step)\n"
                        + "INSERT INTO gotchu_migrations (version) VALUES (\(index + 1));",
                    within: longestMigration
                )
            }
            try connection.execute("COMMIT")
        } catch {
            if connection.isUsable { try connection.execute("ROLLBACK") }
            throw error
        }
    }

    /// Refuses a database that this program must not touch.
    ///
    /// - Returns: The database's version; 0 for an empty one.
    @discardableResult
    static func checkedVersion(of connection: borrowing Connection) throws -> Int64 {
        let tables = try connection.query(
            "SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = current_schema()",
            read: { try $0.text(0) }
        )
        guard tables.contains("gotchu_migrations") else {
            guard tables.isEmpty else {
                throw LedgerError(
                    .foreign,
                    "The database belongs to another program.",
                    fix: "Name an empty one, or that of a gotchu-server."
                )
            }
            try requireNoneBehind(connection)
            return 0
        }
        let version =
            try connection.query(Self.version, read: { try $0.integer(0) }).first ?? 0
        guard version <= newestVersion else {
            throw LedgerError(
                .foreign,
                "The database was written by a newer gotchu-server.",
                fix: "Install that version, or restore a backup made before the update."
            )
        }
        return version
    }

    /// Refuses to take an empty schema for a new ledger while the search path leads to books too: a
    /// schema that was made for this role later, or another role, would hide everybody's money.
    private static func requireNoneBehind(_ connection: borrowing Connection) throws {
        let others = try connection.query(
            """
            SELECT schemaname::text FROM pg_catalog.pg_tables
            WHERE tablename = 'gotchu_migrations' AND schemaname = ANY (current_schemas(false))
                AND schemaname <> current_schema()
            """,
            read: { try $0.text(0) }
        )
        // Those that another server has just made in this one are no others.
        guard let other = others.first else { return }
        throw LedgerError(
            .cannotOpen,
            "The books are in the schema \(other), which is not the first one that is looked at.",
            fix: "Set it for this role: ALTER ROLE … SET search_path = \"\(other)\"."
        )
    }

    /// Refuses a database that has no books of this program's own version.
    static func requireNewest(_ connection: borrowing Connection) throws {
        try Opening.requireNewest(checkedVersion(of: connection), newest: newestVersion)
    }

    /// Columns are called as in the SQLite store. Names sort by their bytes, as there, whatever the
    /// database's language is.
    private static let first = """
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
        );
        CREATE INDEX sessions_alive ON sessions (payee_id)
            WHERE status IN ('CREATED', 'ADVERTISING', 'LOCKED');
        CREATE INDEX sessions_due ON sessions ((coalesce(lock_expires_at, expires_at)))
            WHERE status IN ('CREATED', 'ADVERTISING', 'LOCKED');

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
            session_id text COLLATE "C" UNIQUE REFERENCES sessions (id),
            user_id text COLLATE "C" REFERENCES users (id),
            idempotency_key text COLLATE "C",
            UNIQUE (user_id, idempotency_key),
            CHECK ((kind = 'PAYMENT') = (session_id IS NOT NULL)),
            CHECK ((session_id IS NULL) = (user_id IS NULL)),
            CHECK ((session_id IS NULL) = (idempotency_key IS NULL))
        );

        CREATE TABLE entries (
            wallet_id text COLLATE "C" NOT NULL REFERENCES wallets (id),
            number bigint NOT NULL CHECK (number > 0),
            transfer_id text COLLATE "C" NOT NULL REFERENCES transfers (id),
            amount bigint NOT NULL CHECK (amount <> 0),
            PRIMARY KEY (wallet_id, number)
        );

        CREATE TABLE sends (
            user_id text COLLATE "C" NOT NULL REFERENCES users (id),
            idempotency_key text COLLATE "C" NOT NULL,
            fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
            session_id text COLLATE "C" NOT NULL,
            request_id text NOT NULL,
            decided_at bigint NOT NULL,
            transfer_id text COLLATE "C" REFERENCES transfers (id),
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

        \(guarded("transfers"))
        \(guarded("entries"))
        """

    /// Refuses to change or remove rows of a table that only ever grows.
    ///
    /// A trigger would need a function in another language; a rule whose query cannot be carried
    /// out is plain SQL, and the words that are no number are what whoever tries it is told.
    static func guarded(_ table: String) -> String {
        let refusal = "SELECT CAST((SELECT '\(table) are only ever inserted'::text) AS bigint)"
        return """
            CREATE RULE \(table)_stay AS ON UPDATE TO \(table) DO INSTEAD \(refusal);
            CREATE RULE \(table)_are_kept AS ON DELETE TO \(table) DO INSTEAD \(refusal);
            REVOKE TRUNCATE ON \(table) FROM CURRENT_USER;
            """
    }
}
