extension AuditCheck {
    static let uniquenessRule = "what must be unique cannot be there twice (unique indexes)"

    /// Tables and their columns that are unique together, as rows of SQL. The number of a seal is
    /// not among them: the chain's own rule sees one that is there twice.
    static let uniqueColumns = [
        ("users", "id"), ("users", "email"), ("wallets", "id"), ("wallets", "user_id, currency"),
        ("wallets", "system_account, currency"), ("sessions", "id"), ("sessions", "eid"),
        ("retired_eids", "eid"), ("transfers", "id"), ("transfers", "session_id"),
        ("transfers", "user_id, idempotency_key"), ("entries", "wallet_id, number"),
        ("sends", "user_id, idempotency_key"), ("refunds", "user_id, idempotency_key"),
        ("refunds", "transfer_id"), ("seals", "transfer_id"),
    ].map { "('\($0)', '\($1)')" }.joined(separator: ", ")
}
