extension AuditCheck {
    /// The order of a wallet's entries tells what was left after each of them.
    static let answeredBalances = AuditCheck(
        rule: "every answer told the balance right after its transfer (sends, refunds)",
        count: """
            SELECT (SELECT count(*) FROM sends WHERE transfer_id IS NOT NULL)
                + (SELECT count(*) FROM refunds WHERE transfer_id IS NOT NULL)
            """,
        firstBroken: """
            WITH running AS (
                SELECT transfer_id, amount, sum(amount) OVER (
                    PARTITION BY wallet_id ORDER BY number ROWS UNBOUNDED PRECEDING
                ) AS balance FROM entries
            ), debits AS MATERIALIZED (
                SELECT transfer_id, balance FROM running WHERE amount < 0
            ), told AS (
                SELECT 'payment' AS what, session_id, transfer_id, new_balance FROM sends
                WHERE transfer_id IS NOT NULL
                UNION ALL
                SELECT 'refund', session_id, transfer_id, new_balance FROM refunds
                WHERE transfer_id IS NOT NULL
            )
            SELECT what || ' of session ' || session_id || ', transfer ' || told.transfer_id
                || ': answered balance ' || new_balance || ', entries '
                || coalesce(CAST(balance AS text), 'none')
            FROM told LEFT JOIN debits ON debits.transfer_id = told.transfer_id
            WHERE new_balance IS DISTINCT FROM balance LIMIT 1
            """
    )

    /// Each refund was answered with all that had gone back by then: in the order of these totals
    /// each is the one before it and the refund's own amount.
    static let answeredTotals = AuditCheck(
        rule: "every refund's answer told all that had gone back by then (refunds)",
        count: "SELECT count(*) FROM refunds WHERE transfer_id IS NOT NULL",
        firstBroken: """
            WITH running AS (
                SELECT session_id, transfer_id, total, sum(amount) OVER (
                    PARTITION BY session_id ORDER BY total ROWS UNBOUNDED PRECEDING
                ) AS refunded FROM refunds WHERE transfer_id IS NOT NULL
            )
            SELECT 'refund of session ' || session_id || ', transfer ' || transfer_id
                || ': answered total ' || total || ', refunds ' || refunded
            FROM running WHERE total <> refunded LIMIT 1
            """
    )
}
