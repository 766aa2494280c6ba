extension AuditCheck {
    /// What is neither a payment nor a refund is told by nothing else: it could take money from any
    /// wallet to any other, and all sums would still be right.
    static let openings = AuditCheck(
        rule: "every transfer is of a kind there is, every opening from the mint to a new wallet "
            + "(transfers)",
        count: "SELECT count(*) FROM transfers WHERE kind NOT IN ('PAYMENT', 'REFUND')",
        firstBroken: """
            WITH posted AS MATERIALIZED (
                SELECT transfer_id,
                    max(CASE WHEN entries.amount < 0 THEN system_account END) AS source,
                    max(CASE WHEN entries.amount > 0 AND user_id IS NOT NULL THEN number END)
                        AS number
                FROM entries
                JOIN (SELECT id FROM transfers WHERE kind = 'DEV_OPENING') AS openings
                    ON openings.id = transfer_id
                JOIN wallets ON wallets.id = wallet_id GROUP BY transfer_id
            )
            SELECT 'transfer ' || transfers.id || ' is ' || kind || ', from '
                || coalesce(source, 'no account of the house')
            FROM transfers LEFT JOIN posted ON transfer_id = transfers.id
            WHERE kind NOT IN (\(list(Transfer.Kind.allCases))) OR (
                kind = 'DEV_OPENING'
                AND (source IS DISTINCT FROM 'DEV_MINT' OR number IS DISTINCT FROM 1)
            ) LIMIT 1
            """
    )
}
