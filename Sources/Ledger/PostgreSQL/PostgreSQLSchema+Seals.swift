extension PostgreSQLSchema {
    /// Transfers are chained together.
    static let seals = """
        CREATE TABLE seals (
            number bigint PRIMARY KEY CHECK (number > 0),
            transfer_id text COLLATE "C" NOT NULL UNIQUE REFERENCES transfers (id),
            hash bytea NOT NULL CHECK (octet_length(hash) = 32)
        );
        \(guarded("seals"))
        """
}
