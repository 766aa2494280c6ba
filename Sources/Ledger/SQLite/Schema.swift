internal import SQLite

/// The tables, as numbered steps that only ever go forward.
enum Schema {
    /// Marks a file as a ledger of ours (`PRAGMA application_id`): "gotc".
    static let applicationID: Int64 = 0x676F_7463

    /// Step n brings a file from version n-1 to n. A step that has been released never changes.
    static let steps = [first, rotation, refunds, devices, liveSessions, seals, webhooks]

    static var newestVersion: Int64 { Int64(steps.count) }

    /// Brings the file to the newest version; nothing happens if it is there.
    ///
    /// - Throws: `LedgerError` with `foreign` for a newer file, or one that is not ours.
    static func migrate(_ connection: borrowing Connection) throws {
        try connection.transaction {
            let version = try checkedVersion(of: connection)
            for step in steps.dropFirst(Int(version)) { try connection.execute(step) }
            if version < newestVersion {
                try connection.execute("PRAGMA application_id = \(applicationID)")
                try connection.execute("PRAGMA user_version = \(newestVersion)")
            }
        }
    }

    /// Refuses a file that this program must not touch.
    ///
    /// - Returns: The file's version; 0 for an empty one.
    @discardableResult
    static func checkedVersion(of connection: borrowing Connection) throws -> Int64 {
        let version = try pragma("user_version", of: connection)
        let application = try pragma("application_id", of: connection)
        let tables = try connection.query("SELECT count(*) FROM sqlite_schema") {
            try $0.integer(0)
        }
        let isEmpty = version == 0 && application == 0 && tables == [0]
        guard isEmpty || application == applicationID else {
            throw LedgerError(
                .foreign,
                "The database belongs to another program.",
                fix: "Name a new file, or the file of a gotchu-server."
            )
        }
        guard version <= newestVersion else {
            throw LedgerError(
                .foreign,
                "The database was written by a newer gotchu-server.",
                fix: "Install that version, or restore a backup made before the update."
            )
        }
        return version
    }

    /// Refuses a file that has no books of this program's own version.
    static func requireNewest(_ connection: borrowing Connection) throws {
        try Opening.requireNewest(checkedVersion(of: connection), newest: newestVersion)
    }

    static func pragma(_ name: String, of connection: borrowing Connection) throws -> Int64 {
        try connection.query("PRAGMA \(name)") { try $0.integer(0) }.first ?? 0
    }

    private static let first = """
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
            CHECK ((status IN ('LOCKED', 'PAID')) = (payer_id IS NOT NULL)),
            CHECK ((status = 'LOCKED') = (lock_expires_at IS NOT NULL)),
            CHECK ((status = 'PAID') = (paid_at IS NOT NULL)),
            CHECK (payer_id <> payee_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX sessions_alive ON sessions (payee_id)
            WHERE status IN ('CREATED', 'ADVERTISING', 'LOCKED');
        CREATE INDEX sessions_due ON sessions (coalesce(lock_expires_at, expires_at))
            WHERE status IN ('CREATED', 'ADVERTISING', 'LOCKED');

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

        CREATE TABLE probe (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            written_at INTEGER NOT NULL
        ) STRICT;

        CREATE TRIGGER transfers_stay BEFORE UPDATE ON transfers
            BEGIN SELECT RAISE(ABORT, 'transfers are only ever inserted'); END;
        CREATE TRIGGER transfers_are_kept BEFORE DELETE ON transfers
            BEGIN SELECT RAISE(ABORT, 'transfers are only ever inserted'); END;
        CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
            BEGIN SELECT RAISE(ABORT, 'entries are only ever inserted'); END;
        CREATE TRIGGER entries_are_kept BEFORE DELETE ON entries
            BEGIN SELECT RAISE(ABORT, 'entries are only ever inserted'); END;
        """
}
