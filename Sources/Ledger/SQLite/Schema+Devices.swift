extension Schema {
    /// Registered devices. Secrets are here as hashes only.
    static let devices = """
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
        """
}
