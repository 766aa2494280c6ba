internal import GotchuCore

/// How rows of either store become values. A row that cannot be one means a broken database: better
/// to stop than to guess.
extension LedgerRow where Self: ~Copyable {
    /// The columns of `Columns.session`, from the first.
    borrowing func session() throws -> Session {
        guard let id = SessionID(rawValue: try text(0)), let eid = EID(try text(1)) else {
            throw corrupt("a session's name")
        }
        return Session(
            id: id,
            eid: eid,
            payee: UserID(trusted: try text(2)),
            amount: try money(3),
            memo: try optionalText(5),
            reference: try optionalText(6),
            createdAt: try time(7),
            expiresAt: try time(8),
            state: try sessionState(),
            version: try integer(13),
            rotations: try integer(14),
            refunded: try integer(15)
        )
    }

    private borrowing func sessionState() throws -> Session.State {
        guard let status = SessionStatus(rawValue: try text(9)) else {
            throw corrupt("a session's status")
        }
        return switch status {
        case .created: .created
        case .advertising: .advertising
        case .locked: .locked(by: UserID(trusted: try text(10)), until: try time(11))
        case .paid: .paid(by: UserID(trusted: try text(10)), at: try time(12))
        case .timeout: .timedOut
        case .cancelled: .cancelled
        }
    }

    /// The columns of `Columns.retiredEID`.
    borrowing func retiredEID() throws -> RetiredEID {
        guard let eid = EID(try text(0)), let session = SessionID(rawValue: try text(1)) else {
            throw corrupt("a retired EID")
        }
        return RetiredEID(eid: eid, session: session, resolvesUntil: try time(2))
    }

    /// The columns of `Columns.user`.
    borrowing func user() throws -> User {
        User(
            id: UserID(trusted: try text(0)),
            email: try text(1),
            displayName: try text(2),
            createdAt: try time(3)
        )
    }

    /// The columns of `Columns.wallet`.
    borrowing func wallet() throws -> Wallet {
        let owner: Wallet.Owner
        if let user = try optionalText(1) {
            owner = .user(UserID(trusted: user))
        } else if let account = SystemAccount(rawValue: try text(2)) {
            owner = .system(account)
        } else {
            throw corrupt("a wallet's owner")
        }
        guard let currency = Currency(rawValue: try text(3)) else {
            throw corrupt("a wallet's currency")
        }
        return Wallet(
            id: WalletID(trusted: try text(0)),
            owner: owner,
            currency: currency,
            balance: try integer(4),
            entryCount: try integer(5)
        )
    }

    /// The columns of `Columns.send`.
    borrowing func send() throws -> RememberedSend {
        guard let key = IdempotencyKey(rawValue: try text(1)),
            let fingerprint = Fingerprint(bytes: try blob(2)),
            let session = SessionID(rawValue: try text(3))
        else { throw corrupt("a remembered payment") }
        let outcome: RememberedSend.Outcome
        if let transfer = try optionalText(6) {
            outcome = .paid(TransferID(trusted: transfer), newBalance: try integer(7))
        } else if let reason = Refusal.Reason(rawValue: try text(8)) {
            let required = try optionalInteger(9)
            let available = try optionalInteger(10)
            outcome = .declined(Refusal(reason, required: required, available: available))
        } else {
            throw corrupt("a remembered refusal")
        }
        return RememberedSend(
            key: SendKey(user: UserID(trusted: try text(0)), key: key),
            fingerprint: fingerprint,
            session: session,
            outcome: outcome,
            requestID: try text(4),
            decidedAt: try time(5)
        )
    }

    /// The columns of `Columns.refund`.
    borrowing func refund() throws -> RememberedRefund {
        guard let key = IdempotencyKey(rawValue: try text(1)),
            let fingerprint = Fingerprint(bytes: try blob(2)),
            let session = SessionID(rawValue: try text(3))
        else { throw corrupt("a remembered refund") }
        let outcome: RememberedRefund.Outcome
        if let transfer = try optionalText(6) {
            outcome = .refunded(
                RememberedRefund.Made(
                    transfer: TransferID(trusted: transfer),
                    amount: try integer(7),
                    total: try integer(8),
                    newBalance: try integer(9)
                )
            )
        } else if let reason = Refusal.Reason(rawValue: try text(10)) {
            let required = try optionalInteger(11)
            let available = try optionalInteger(12)
            outcome = .declined(Refusal(reason, required: required, available: available))
        } else {
            throw corrupt("a remembered refusal")
        }
        return RememberedRefund(
            key: SendKey(user: UserID(trusted: try text(0)), key: key),
            fingerprint: fingerprint,
            session: session,
            outcome: outcome,
            requestID: try text(4),
            decidedAt: try time(5)
        )
    }

    /// The columns of `Columns.historyEntry`.
    borrowing func historyEntry() throws -> WalletHistory.Entry {
        guard let kind = Transfer.Kind(rawValue: try text(2)) else {
            throw corrupt("a transfer's kind")
        }
        return WalletHistory.Entry(
            number: try integer(0),
            transfer: TransferID(trusted: try text(1)),
            kind: kind,
            amount: try money(3),
            memo: try optionalText(5),
            session: try optionalText(6).flatMap(SessionID.init(rawValue:)),
            createdAt: try time(7)
        )
    }

    /// Transfer, kind, amount, currency, memo, time.
    borrowing func statementEntry() throws -> WalletStatement.Entry {
        guard let kind = Transfer.Kind(rawValue: try text(1)) else {
            throw corrupt("a transfer's kind")
        }
        return WalletStatement.Entry(
            transfer: TransferID(trusted: try text(0)),
            kind: kind,
            amount: try money(2),
            memo: try optionalText(4),
            createdAt: try time(5)
        )
    }

    borrowing func time(_ column: Int) throws -> Timestamp {
        Timestamp(milliseconds: try integer(column))
    }

    /// An amount and, in the next column, its currency.
    borrowing func money(_ column: Int) throws -> Money {
        guard let currency = Currency(rawValue: try text(column + 1)) else {
            throw corrupt("a currency")
        }
        return Money(minorUnits: try integer(column), currency: currency)
    }

    func corrupt(_ what: String) -> LedgerError {
        LedgerError(
            .corrupt,
            "The database holds \(what) that cannot be read.",
            fix: "Run gotchu-server verify, and restore a backup if it finds damage."
        )
    }
}

/// The columns that those readers expect, in their order.
enum Columns {
    static let session = """
        sessions.id, sessions.eid, payee_id, amount, currency, memo, reference, sessions.created_at,
        expires_at, status, payer_id, lock_expires_at, paid_at, version, rotations, refunded
        """
    static let retiredEID = "eid, session_id, resolves_until"
    /// Of `transfers`, `seals`, and the refund and the session of a transfer.
    static let sealedTransfer = """
        transfers.id, seals.number, transfers.kind, transfers.currency, transfers.amount,
        transfers.created_at, sessions.id, sessions.payee_id, sessions.payer_id,
        coalesce(transfers.user_id, refunds.user_id),
        coalesce(transfers.idempotency_key, refunds.idempotency_key)
        """
    static let user = "id, email, display_name, created_at"
    static let wallet = "id, user_id, system_account, currency, balance, entry_count"
    static let ownedWallet = """
        wallets.id, user_id, system_account, currency, balance, entry_count, users.created_at
        """
    static let historyEntry = """
        entries.number, entries.transfer_id, kind, entries.amount, transfers.currency, memo,
        sessions.id, transfers.created_at
        """
    static let send = """
        user_id, idempotency_key, fingerprint, session_id, request_id, decided_at, transfer_id,
        new_balance, refusal, required, available
        """
    static let refund = """
        user_id, idempotency_key, fingerprint, session_id, request_id, decided_at, transfer_id,
        amount, total, new_balance, refusal, required, available
        """
}
