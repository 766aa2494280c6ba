internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Payments

extension TransferKind {
    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// Returns the kind of an entry.
    ///
    /// - Throws: `LedgerError` with `corrupt` if the kind is unknown.
    static func of(_ entry: Entry) throws(LedgerError) -> TransferKind {
        try named(entry.kind)
    }

    /// Returns the kind with a name.
    ///
    /// - Throws: `LedgerError` with `corrupt` if the kind is unknown.
    static func named(_ name: String) throws(LedgerError) -> TransferKind {
        guard let kind = byName[name] else { throw .corrupt("a kind of transfer") }
        return kind
    }

    /// Returns the change that an entry makes to its account's earnings: a payment received, or a
    /// refund of one. Returns `nil` if the entry changes no earnings.
    func earning(isDebit: Bool) -> EarningsEntry.Kind? {
        switch (earner, isDebit) {
        case (.receiver, false): .earning
        case (.sender, true): .refund
        case (.nobody, _), (.receiver, true), (.sender, false): nil
        }
    }
}

extension Record {
    /// The session or group in the record; `nil` for a record of another kind.
    ///
    /// - Throws: `LedgerError` with `corrupt` if it cannot be read.
    var session: Session? {
        get throws(LedgerError) { try Session.shown(self) }
    }
}

extension Record {
    /// The id of the contest in the record; `nil` for a record of another kind.
    var contestID: String? { kind == Contest.kind ? id.rawValue : nil }

    /// The title of the contest in the record; `nil` for a record of another kind.
    ///
    /// - Throws: `LedgerError` with `corrupt` if it cannot be read.
    var contestTitle: String? {
        get throws(LedgerError) {
            kind == Contest.kind ? try Contest(self).terms.title : nil
        }
    }
}

extension Entry {
    var isDebit: Bool { amount < 0 }
}

extension WalletEntry {
    /// - Parameter record: The entry's record, if it has one.
    init(_ entry: Entry, _ record: Record?) throws {
        let kind = try TransferKind.of(entry)
        let session = try record?.session
        self.init(
            id: entry.transfer.id,
            type: entry.isDebit ? kind.debitName : kind.creditName,
            direction: entry.isDebit ? .debit : .credit,
            amountCents: WireInteger(abs(entry.amount)),
            tipCents: session?.tip(in: entry).map(WireInteger.init),
            currency: entry.account.currency,
            memo: try session?.memo ?? record?.contestTitle,
            createdAt: entry.at
        )
    }
}

extension SendOutcomeReply {
    /// - Throws: `LedgerError` with `corrupt` if the stored answer cannot be read.
    init(_ answer: Answer) throws {
        let reply = try CommandReply<Pay.Outcome>(answer)
        guard let session = answer.soldShare ?? SessionID(rawValue: answer.record.rawValue) else {
            throw LedgerError.corrupt("a session's id")
        }
        switch reply.outcome {
        case .success(let paid):
            self.init(
                outcome: .paid,
                status: 200,
                sid: session,
                transferID: paid.transfer,
                newBalanceCents: WireInteger(paid.newBalance),
                tipCents: paid.tip.map(WireInteger.init)
            )
        case .failure(let refusal):
            let problem = refusal.problem
            self.init(
                outcome: .declined,
                status: problem.status,
                sid: session,
                code: problem.code,
                detail: problem.detail
            )
        }
    }
}
