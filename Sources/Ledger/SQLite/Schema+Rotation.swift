extension Schema {
    /// A session may change its EID, and the old one resolves a while longer.
    static let rotation = """
        ALTER TABLE sessions ADD COLUMN rotations INTEGER NOT NULL DEFAULT 0
            CHECK (rotations >= 0);
        CREATE TABLE retired_eids (
            eid TEXT PRIMARY KEY,
            session_id TEXT NOT NULL REFERENCES sessions (id),
            resolves_until INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
