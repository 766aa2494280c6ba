extension Schema {
    /// Transfers are chained together.
    static let seals = """
        CREATE TABLE seals (
            number INTEGER PRIMARY KEY CHECK (number > 0),
            transfer_id TEXT NOT NULL UNIQUE REFERENCES transfers (id),
            hash BLOB NOT NULL CHECK (length(hash) = 32)
        ) STRICT;
        CREATE TRIGGER seals_stay BEFORE UPDATE ON seals
            BEGIN SELECT RAISE(ABORT, 'seals are only ever inserted'); END;
        CREATE TRIGGER seals_are_kept BEFORE DELETE ON seals
            BEGIN SELECT RAISE(ABORT, 'seals are only ever inserted'); END;
        """
}
