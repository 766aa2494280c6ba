internal import GotchuCore
internal import SQLite

/// Writing the effects of a batch. SQLite runs inside this process, so a prepared statement per row
/// is as good as a set statement.
extension Connection {
    borrowing func save(_ effects: Effects) throws {
        for user in effects.newUsers { try insert(user) }
        for wallet in effects.wallets { try put(wallet) }
        for session in effects.sessions { try put(session) }
        for eid in effects.newRetiredEIDs { try insert(eid) }
        for transfer in effects.newTransfers { try insert(transfer) }
        for send in effects.newSends { try insert(send) }
        for refund in effects.newRefunds { try insert(refund) }
        for event in effects.newEvents { try enqueue(event) }
        if let time = effects.probedAt {
            try run(
                "INSERT OR REPLACE INTO probe (id, written_at) VALUES (1, ?1)",
                [.integer(time.milliseconds)]
            )
        }
    }

    /// Nothing is written where nobody wants to be told.
    private borrowing func enqueue(_ event: SessionEvent) throws {
        try run(
            WebhookQueries.enqueue,
            [
                .text(event.id), .text(event.kind.rawValue), .text(event.session.id.rawValue),
                .integer(event.at.milliseconds), .integer(event.refund),
                .integer(event.session.refunded), .text(event.session.payee.rawValue),
            ]
        )
    }

    private borrowing func insert(_ user: User) throws {
        try run(
            "INSERT INTO users (\(Columns.user)) VALUES (?1, ?2, ?3, ?4)",
            [
                .text(user.id.rawValue), .text(user.email), .text(user.displayName),
                .integer(user.createdAt.milliseconds),
            ]
        )
    }

    /// Nearly always a wallet that is there already: finding it costs less than having every rule
    /// for new rows checked first, as an insertion that turns into an update does.
    private borrowing func put(_ wallet: Wallet) throws {
        let changed = try run(
            "UPDATE wallets SET balance = ?2, entry_count = ?3 WHERE id = ?1",
            [.text(wallet.id.rawValue), .integer(wallet.balance), .integer(wallet.entryCount)]
        )
        if changed == 0 { try insert(wallet) }
    }

    private borrowing func insert(_ wallet: Wallet) throws {
        try run(
            """
            INSERT INTO wallets (\(Columns.wallet)) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """,
            [
                .text(wallet.id.rawValue), .text(wallet.user?.rawValue),
                .text(wallet.account?.rawValue),
                .text(wallet.currency.rawValue), .integer(wallet.balance),
                .integer(wallet.entryCount),
            ]
        )
    }

    private borrowing func put(_ session: Session) throws {
        let changed = try run(
            """
            UPDATE sessions SET status = ?2, payer_id = ?3, lock_expires_at = ?4, paid_at = ?5,
                version = ?6, rotations = ?7, refunded = ?8
            WHERE id = ?1
            """,
            [.text(session.id.rawValue)] + changing(session)
        )
        if changed == 0 { return try insert(session) }
        // Naming the EID above would rewrite its index for every payment.
        guard session.rotations > 0 else { return }
        try run(
            "UPDATE sessions SET eid = ?2 WHERE id = ?1 AND eid <> ?2",
            [.text(session.id.rawValue), .text(session.eid.description)]
        )
    }

    private borrowing func insert(_ session: Session) throws {
        try run(
            """
            INSERT INTO sessions (
                id, eid, payee_id, amount, currency, memo, reference, created_at, expires_at,
                status, payer_id, lock_expires_at, paid_at, version, rotations, refunded
            ) VALUES (
                ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16
            )
            """,
            [
                .text(session.id.rawValue), .text(session.eid.description),
                .text(session.payee.rawValue), .integer(session.amount.minorUnits),
                .text(session.amount.currency.rawValue), .text(session.memo),
                .text(session.reference), .integer(session.createdAt.milliseconds),
                .integer(session.expiresAt.milliseconds),
            ] + changing(session)
        )
    }

    /// Status, payer, end of the lock, time of payment, version, rotations, refunded.
    private borrowing func changing(_ session: Session) -> [Value] {
        [
            .text(session.status.rawValue), .text(session.payer?.rawValue),
            .integer(session.lockExpiresAt?.milliseconds), .integer(session.paidAt?.milliseconds),
            .integer(session.version), .integer(session.rotations), .integer(session.refunded),
        ]
    }

    private borrowing func insert(_ eid: RetiredEID) throws {
        try run(
            "INSERT INTO retired_eids (\(Columns.retiredEID)) VALUES (?1, ?2, ?3)",
            [
                .text(eid.eid.description), .text(eid.session.rawValue),
                .integer(eid.resolvesUntil.milliseconds),
            ]
        )
    }

    private borrowing func insert(_ transfer: Transfer) throws {
        try run(
            """
            INSERT INTO transfers (
                id, kind, amount, currency, created_at, session_id, user_id, idempotency_key
            ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """,
            [
                .text(transfer.id.rawValue), .text(transfer.kind.rawValue),
                .integer(transfer.amount.minorUnits), .text(transfer.amount.currency.rawValue),
                .integer(transfer.createdAt.milliseconds),
                .text(transfer.order?.session.rawValue),
                .text(transfer.order?.key.user.rawValue), .text(transfer.order?.key.key.rawValue),
            ]
        )
        for line in transfer.lines {
            try run(
                """
                INSERT INTO entries (wallet_id, number, transfer_id, amount)
                VALUES (?1, ?2, ?3, ?4)
                """,
                [
                    .text(line.wallet.rawValue), .integer(line.number),
                    .text(transfer.id.rawValue), .integer(line.amount),
                ]
            )
        }
    }

    private borrowing func insert(_ send: RememberedSend) throws {
        var values: [Value] = [
            .text(send.key.user.rawValue), .text(send.key.key.rawValue),
            .blob(send.fingerprint.bytes), .text(send.session.rawValue), .text(send.requestID),
            .integer(send.decidedAt.milliseconds),
        ]
        switch send.outcome {
        case .paid(let transfer, let newBalance):
            values += [.text(transfer.rawValue), .integer(newBalance), .null, .null, .null]
        case .declined(let refusal):
            values += [
                .null, .null, .text(refusal.reason.rawValue), .integer(refusal.required),
                .integer(refusal.available),
            ]
        }
        try run(
            """
            INSERT INTO sends (\(Columns.send))
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            """,
            values
        )
    }

    private borrowing func insert(_ refund: RememberedRefund) throws {
        var values: [Value] = [
            .text(refund.key.user.rawValue), .text(refund.key.key.rawValue),
            .blob(refund.fingerprint.bytes), .text(refund.session.rawValue),
            .text(refund.requestID), .integer(refund.decidedAt.milliseconds),
        ]
        switch refund.outcome {
        case .refunded(let made):
            values += [
                .text(made.transfer.rawValue), .integer(made.amount), .integer(made.total),
                .integer(made.newBalance), .null, .null, .null,
            ]
        case .declined(let refusal):
            values += [
                .null, .null, .null, .null, .text(refusal.reason.rawValue),
                .integer(refusal.required), .integer(refusal.available),
            ]
        }
        try run(
            """
            INSERT INTO refunds (\(Columns.refund))
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            """,
            values
        )
    }
}
