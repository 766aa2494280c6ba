internal import Ledger

/// The tables, as SQL from which each engine's SQL is made. Plain SQL: no functions or sequences.
///
/// * Every unique constraint is a primary key that begins with the column by which a row is
///   found, so that an engine that distributes tables can enforce it. There are no foreign keys:
///   the writer has loaded and locked the rows that a new row refers to, and none of those is ever
///   removed. `verify` checks every reference.
/// * No index contains a record's state. A lock or a payment therefore updates no index of
///   `records`, and is a heap-only update (PostgreSQL manual, 73.7). Due times are stored in a
///   small table of their own, `due`.
enum Schema {
    /// The version of the tables that this program supports.
    static let version: Int64 = 1

    /// Tables whose rows are only ever inserted.
    static let guarded = ["transfers", "entries", "children", "answers", "seals"]

    /// The condition of rows that are listed by kind. Sessions are not listed: a payment then
    /// writes no index row of `records_by_owner` or `records_by_kind`. A statement must repeat the
    /// condition to use these indexes.
    static let isListed = "kind <> 'session'"

    /// The condition of accounts with users' debts. The primary key finds them.
    static let isDebt = """
        owner >= '\(UserHouseAccount.owed.rawValue):'
            AND owner < '\(UserHouseAccount.owed.rawValue);'
        """

    static func tables(for dialect: Dialect) -> String {
        switch dialect {
        case .sqlite: tables
        case .postgresql, .distributed:
            // Ids sort by their bytes, as in SQLite, whatever the database's locale is.
            tables.replacing(" TEXT", with: #" text COLLATE "C""#)
                .replacing(" INTEGER", with: " bigint")
                .replacing(" BLOB", with: " bytea")
                .replacing(" length(", with: " octet_length(")
                .replacing(") STRICT, WITHOUT ROWID /* half */;", with: ") WITH (fillfactor = 50);")
                .replacing(") STRICT, WITHOUT ROWID;", with: ");")
        }
    }

    private static let tables = """
        CREATE TABLE users (
            id TEXT PRIMARY KEY,
            login TEXT NOT NULL,
            display_name TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            take_bps INTEGER,
            deposit_maximum INTEGER,
            balance_maximum INTEGER
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE names (
            name TEXT PRIMARY KEY,
            target TEXT NOT NULL,
            until INTEGER
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE accounts (
            owner TEXT NOT NULL,
            currency TEXT NOT NULL,
            balance INTEGER NOT NULL,
            earned INTEGER NOT NULL,
            entry_count INTEGER NOT NULL CHECK (entry_count >= 0),
            changed_at INTEGER NOT NULL,
            PRIMARY KEY (owner, currency),
            CHECK (balance >= 0 OR owner LIKE '\(UserHouseAccount.owed.prefix)%'
                OR owner IN (\(sqlList(HouseAccount.allCases)))),
            CHECK (balance <= 0 OR owner NOT LIKE '\(UserHouseAccount.owed.prefix)%')
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE records (
            id TEXT PRIMARY KEY,
            kind TEXT NOT NULL,
            owner TEXT NOT NULL,
            state TEXT NOT NULL,
            version INTEGER NOT NULL CHECK (version > 0),
            created_at INTEGER NOT NULL,
            due_at INTEGER,
            body TEXT NOT NULL
        ) STRICT, WITHOUT ROWID /* half */;
        CREATE INDEX records_by_owner ON records (owner, kind, id) WHERE \(isListed);
        CREATE INDEX records_by_kind ON records (kind, id) WHERE \(isListed);

        CREATE TABLE children (
            parent TEXT NOT NULL,
            number INTEGER NOT NULL,
            record TEXT NOT NULL,
            PRIMARY KEY (parent, number)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE due (
            owner TEXT NOT NULL,
            record TEXT NOT NULL,
            kind TEXT NOT NULL,
            due_at INTEGER NOT NULL,
            leased_until INTEGER,
            PRIMARY KEY (owner, record)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX due_by_time ON due (due_at);
        CREATE INDEX due_by_kind ON due (kind, due_at) WHERE \(isListed);

        CREATE TABLE transfers (
            record TEXT NOT NULL,
            step TEXT NOT NULL,
            kind TEXT NOT NULL,
            at INTEGER NOT NULL,
            chain TEXT NOT NULL,
            seal INTEGER NOT NULL CHECK (seal > 0),
            hash BLOB NOT NULL CHECK ( length(hash) = 32),
            PRIMARY KEY (record, step)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE entries (
            owner TEXT NOT NULL,
            currency TEXT NOT NULL,
            number INTEGER NOT NULL CHECK (number > 0),
            record TEXT NOT NULL,
            step TEXT NOT NULL,
            kind TEXT NOT NULL,
            at INTEGER NOT NULL,
            amount INTEGER NOT NULL CHECK (amount <> 0),
            balance INTEGER NOT NULL,
            earned INTEGER NOT NULL,
            PRIMARY KEY (owner, currency, number)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE answers (
            user_id TEXT NOT NULL,
            command TEXT NOT NULL,
            key TEXT NOT NULL,
            fingerprint BLOB NOT NULL CHECK ( length(fingerprint) = 32),
            outcome TEXT,
            refusal TEXT,
            record TEXT NOT NULL,
            step TEXT,
            request_id TEXT NOT NULL,
            decided_at INTEGER NOT NULL,
            PRIMARY KEY (user_id, command, key),
            CHECK ((outcome IS NULL) <> (refusal IS NULL)),
            CHECK (refusal IS NULL OR step IS NULL)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE seals (
            chain TEXT NOT NULL,
            number INTEGER NOT NULL CHECK (number > 0),
            previous BLOB NOT NULL CHECK ( length(previous) = 32),
            hash BLOB NOT NULL CHECK ( length(hash) = 32),
            PRIMARY KEY (chain, number)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE probe (
            id INTEGER PRIMARY KEY CHECK (id IN (1, 2, 3)),
            written_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE secrets (
            name TEXT PRIMARY KEY,
            secret BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE devices (
            id TEXT PRIMARY KEY,
            user_id TEXT NOT NULL,
            name TEXT NOT NULL,
            scopes TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            family BLOB NOT NULL CHECK ( length(family) = 32),
            current BLOB NOT NULL CHECK ( length(current) = 32),
            previous BLOB CHECK ( length(previous) % 32 = 0),
            generation INTEGER NOT NULL CHECK (generation >= 0),
            expires_at INTEGER NOT NULL,
            last_used_at INTEGER,
            token_ends_at INTEGER,
            revoked_at INTEGER,
            revocation TEXT,
            CHECK ((revoked_at IS NULL) = (revocation IS NULL))
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE endpoints (
            id TEXT PRIMARY KEY,
            url TEXT NOT NULL,
            owner TEXT,
            created_at INTEGER NOT NULL,
            secret BLOB NOT NULL,
            disabled TEXT
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE deliveries (
            endpoint TEXT NOT NULL,
            event TEXT NOT NULL,
            kind TEXT NOT NULL,
            record TEXT NOT NULL,
            owner TEXT NOT NULL,
            at INTEGER NOT NULL,
            amount INTEGER,
            body TEXT NOT NULL,
            attempts INTEGER NOT NULL,
            next_try_at INTEGER NOT NULL,
            give_up_at INTEGER NOT NULL,
            dead_at INTEGER,
            last_error TEXT,
            PRIMARY KEY (endpoint, event)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX deliveries_due ON deliveries (endpoint, next_try_at) WHERE dead_at IS NULL;
        CREATE INDEX deliveries_dead ON deliveries (endpoint, event) WHERE dead_at IS NOT NULL;
        CREATE TABLE web_sessions (
            id BLOB PRIMARY KEY CHECK ( length(id) = 32),
            user_id TEXT NOT NULL,
            user_name TEXT NOT NULL,
            scopes TEXT NOT NULL,
            authenticated_at INTEGER,
            used_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            ended_at INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX web_sessions_by_expiry ON web_sessions (expires_at);
        CREATE INDEX devices_by_user ON devices (user_id, id);
        """
}

/// The delivery rule shared by the commit of an event and the outbox.
package enum Delivery {
    /// The time for which delivery is attempted, counted from the first attempt, in milliseconds.
    /// An event is therefore not given up because no server ran for days.
    package static let retryWindowMilliseconds = 24 * 3_600 * 1_000
}

/// Returns the raw values of `cases` as a list of SQL text literals.
func sqlList<Case: RawRepresentable>(_ cases: some Sequence<Case>) -> String
where Case.RawValue == String {
    cases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
}
