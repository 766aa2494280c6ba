extension PostgreSQLSchema {
    /// Three of the six references that a payment touches. Checking all six was a third of the
    /// database's work for it (docs/benchmarks.md); these three alone were not measured.
    ///
    /// Who ordered a transfer is its session's payer, whom that and his wallet refer to; and an
    /// answer is written beside its transfer, in the same commit. `verify` looks at both.
    static let answers = """
        ALTER TABLE transfers DROP CONSTRAINT transfers_user_id_fkey;
        ALTER TABLE sends DROP CONSTRAINT sends_user_id_fkey;
        ALTER TABLE sends DROP CONSTRAINT sends_transfer_id_fkey;
        """
}
