extension PostgreSQLSchema {
    /// The last references that a payment and its seal touch. To look for what each of their rows
    /// leads to costs the database a fifth of its work for a payment (docs/benchmarks.md), and
    /// finds nothing: the writer has loaded and locked those wallets and sessions in the same
    /// transaction, writes the transfer beside its entries, seals what it has read, and none of
    /// these rows is ever removed. `verify` looks at every one of them (`Reference.unwatched`).
    static let references = """
        ALTER TABLE entries DROP CONSTRAINT entries_wallet_id_fkey;
        ALTER TABLE entries DROP CONSTRAINT entries_transfer_id_fkey;
        ALTER TABLE transfers DROP CONSTRAINT transfers_session_id_fkey;
        ALTER TABLE seals DROP CONSTRAINT seals_transfer_id_fkey;
        """
}
