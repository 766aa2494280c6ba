/// One rule of the books as two questions to the database: how many rows it concerns, and the first
/// one that breaks it, as text. In SQL that both stores understand alike.
///
/// None of them may ask entries or sends by their transfer: there is no such index, and SQLite
/// makes none for these tables, nor for a FULL JOIN, by itself. They are gathered first, once, so
/// that the time grows with the books and not with their square.
struct AuditCheck {
    let rule: String
    let count: String
    let firstBroken: String

    static let all = [
        conservation, transfers, openings, balances, numbering, funds, paidSessions, payments,
        answers,
        answeredBalances, refunds, refundTotals, answeredTotals, states, SealQueries.sealed,
    ]

    private static let conservation = AuditCheck(
        rule: "all accounts together hold zero of each currency (currencies)",
        count: "SELECT count(DISTINCT currency) FROM wallets",
        firstBroken: """
            SELECT 'currency ' || currency || ': ' || sum(balance) FROM wallets
            GROUP BY currency HAVING sum(balance) <> 0 LIMIT 1
            """
    )

    private static let transfers = AuditCheck(
        rule: "every transfer's lines sum to zero, move its amount, in its currency (transfers)",
        count: "SELECT count(*) FROM transfers",
        firstBroken: """
            WITH posted AS MATERIALIZED (
                SELECT transfer_id, count(*) AS lines, sum(entries.amount) AS total,
                    sum(CASE WHEN entries.amount > 0 THEN entries.amount END) AS moved,
                    min(wallets.currency) AS lowest, max(wallets.currency) AS highest
                FROM entries JOIN wallets ON wallets.id = wallet_id GROUP BY transfer_id
            )
            SELECT 'transfer ' || transfers.id || ': ' || coalesce(lines, 0) || ' lines, sum '
                || coalesce(total, 0)
            FROM transfers LEFT JOIN posted ON posted.transfer_id = transfers.id
            WHERE lines IS DISTINCT FROM 2 OR total <> 0
                OR moved IS DISTINCT FROM transfers.amount
                OR lowest <> transfers.currency OR highest <> transfers.currency
            LIMIT 1
            """
    )

    private static let balances = AuditCheck(
        rule: "every balance is the sum of its entries (wallets)",
        count: "SELECT count(*) FROM wallets",
        firstBroken: """
            SELECT 'wallet ' || wallets.id || ': balance ' || balance || ', entries '
                || coalesce(sum(amount), 0)
            FROM wallets LEFT JOIN entries ON wallet_id = wallets.id
            GROUP BY wallets.id HAVING balance <> coalesce(sum(amount), 0) LIMIT 1
            """
    )

    private static let numbering = AuditCheck(
        rule: "every wallet's entries are numbered without a gap (entries)",
        count: "SELECT count(*) FROM entries",
        firstBroken: """
            SELECT 'wallet ' || wallets.id || ': ' || count(number) || ' entries up to number '
                || coalesce(max(number), 0) || ', expected ' || entry_count
            FROM wallets LEFT JOIN entries ON wallet_id = wallets.id
            GROUP BY wallets.id
            HAVING count(number) <> entry_count OR coalesce(max(number), 0) <> entry_count LIMIT 1
            """
    )

    private static let funds = AuditCheck(
        rule: "no user's wallet is below zero (wallets)",
        count: "SELECT count(*) FROM wallets WHERE user_id IS NOT NULL",
        firstBroken: """
            SELECT 'wallet ' || id || ': balance ' || balance FROM wallets
            WHERE user_id IS NOT NULL AND balance < 0 LIMIT 1
            """
    )

    private static let paidSessions = AuditCheck(
        rule: "every paid session has one transfer of its amount from its payer (sessions)",
        count: "SELECT count(*) FROM sessions WHERE status = 'PAID'",
        firstBroken: """
            SELECT 'session ' || sessions.id || ': ' || count(transfers.id) || ' transfers'
            FROM sessions LEFT JOIN transfers ON transfers.session_id = sessions.id
                AND transfers.amount = sessions.amount AND transfers.currency = sessions.currency
                AND transfers.user_id = sessions.payer_id
            WHERE status = 'PAID' GROUP BY sessions.id HAVING count(transfers.id) <> 1 LIMIT 1
            """
    )

    private static let payments = AuditCheck(
        rule: "every payment paid a session, to its payee and from its payer (payments)",
        count: "SELECT count(*) FROM transfers WHERE kind = 'PAYMENT'",
        firstBroken: """
            WITH postings AS (
                SELECT transfer_id, user_id, entries.amount AS amount
                FROM entries JOIN wallets ON wallets.id = wallet_id
            )
            SELECT 'transfer ' || transfers.id || ': session ' || session_id || ' is '
                || coalesce(sessions.status, 'missing')
            FROM transfers LEFT JOIN sessions ON sessions.id = session_id
            LEFT JOIN postings credit ON credit.transfer_id = transfers.id
                AND credit.user_id = payee_id AND credit.amount = transfers.amount
            LEFT JOIN postings debit ON debit.transfer_id = transfers.id
                AND debit.user_id = transfers.user_id AND debit.amount = -transfers.amount
            WHERE kind = 'PAYMENT' AND (
                sessions.status IS DISTINCT FROM 'PAID'
                OR credit.transfer_id IS NULL OR debit.transfer_id IS NULL
            ) LIMIT 1
            """
    )

    private static let answers = AuditCheck(
        rule: "every payment is what its key was answered with (answers)",
        count: "SELECT count(*) FROM sends",
        firstBroken: """
            WITH made AS MATERIALIZED (
                SELECT user_id, idempotency_key, session_id, transfer_id FROM sends
                WHERE transfer_id IS NOT NULL
            )
            SELECT 'transfer ' || transfers.id || ' and key of user '
                || coalesce(transfers.user_id, 'nobody') || ' do not agree'
            FROM transfers LEFT JOIN made ON made.transfer_id = transfers.id
            WHERE kind = 'PAYMENT' AND (
                made.user_id IS DISTINCT FROM transfers.user_id
                OR made.idempotency_key IS DISTINCT FROM transfers.idempotency_key
                OR made.session_id IS DISTINCT FROM transfers.session_id
            )
            UNION ALL
            SELECT 'transfer ' || made.transfer_id || ' and key of user ' || made.user_id
                || ' do not agree'
            FROM made LEFT JOIN transfers ON transfers.id = made.transfer_id
            WHERE made.user_id IS DISTINCT FROM transfers.user_id
                OR made.idempotency_key IS DISTINCT FROM transfers.idempotency_key
                OR made.session_id IS DISTINCT FROM transfers.session_id
            LIMIT 1
            """
    )
}
