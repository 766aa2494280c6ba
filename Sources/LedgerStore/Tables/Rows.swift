package import GotchuCore
package import Ledger

// Initialisers from rows, in the order of `Columns`.

extension User: RowValue {
    package init(row: borrowing some LedgerRow & ~Copyable) throws {
        self.init(
            id: UserID(trusted: try row.text(0)),
            login: try row.text(1),
            displayName: try row.text(2),
            createdAt: try row.time(3),
            terms: Terms(
                takeBasisPoints: try row.optionalInteger(4),
                depositMaximum: try row.optionalInteger(5),
                balanceMaximum: try row.optionalInteger(6)
            )
        )
    }
}

extension Name: RowValue {
    package init(row: borrowing some LedgerRow & ~Copyable) throws {
        self.init(
            try row.text(0),
            target: try row.text(1),
            until: try row.optionalTime(2)
        )
    }
}

extension Account: RowValue {
    package init(row: borrowing some LedgerRow & ~Copyable) throws {
        self.init(
            try row.accountKey(0),
            balance: try row.integer(2),
            earned: try row.integer(3),
            entryCount: try row.integer(4),
            changedAt: try row.time(5)
        )
    }
}

extension Record: RowValue {
    package init(row: borrowing some LedgerRow & ~Copyable) throws {
        try self.init(row: row, from: 0)
    }

    init(row: borrowing some LedgerRow & ~Copyable, from column: Int) throws {
        self.init(
            id: RecordID(trusted: try row.text(column)),
            kind: try row.text(column + 1),
            owner: UserID(trusted: try row.text(column + 2)),
            state: try row.text(column + 3),
            version: try row.integer(column + 4),
            createdAt: try row.time(column + 5),
            dueAt: try row.optionalTime(column + 6),
            body: try row.text(column + 7)
        )
    }
}

/// A record, its owner's name, and the time until which the name that found it is valid.
extension NamedRecord: RowValue {
    package init(row: borrowing some LedgerRow & ~Copyable) throws {
        self.init(
            record: try Record(row: row),
            ownerName: try row.text(Columns.recordCount),
            until: try row.optionalTime(Columns.recordCount + 1)
        )
    }
}

extension Child: RowValue {
    package init(row: borrowing some LedgerRow & ~Copyable) throws {
        self.init(
            parent: RecordID(trusted: try row.text(0)),
            number: try row.integer(1),
            record: RecordID(trusted: try row.text(2))
        )
    }
}

extension DueRecord: RowValue {
    package init(row: borrowing some LedgerRow & ~Copyable) throws {
        self.init(id: RecordID(trusted: try row.text(0)), kind: try row.text(1))
    }
}

extension Entry: RowValue {
    package init(row: borrowing some LedgerRow & ~Copyable) throws {
        try self.init(row: row, from: 0)
    }

    init(row: borrowing some LedgerRow & ~Copyable, from column: Int) throws {
        self.init(
            account: try row.accountKey(column),
            number: try row.integer(column + 2),
            transfer: Transfer.Key(
                RecordID(trusted: try row.text(column + 3)),
                try row.text(column + 4)
            ),
            kind: try row.text(column + 5),
            at: try row.time(column + 6),
            amount: try row.integer(column + 7),
            balance: try row.integer(column + 8),
            earned: try row.integer(column + 9)
        )
    }
}

extension Answer: RowValue {
    package init(row: borrowing some LedgerRow & ~Copyable) throws {
        guard let key = IdempotencyKey(rawValue: try row.text(2)),
            let fingerprint = Fingerprint(bytes: try row.blob(3))
        else { throw LedgerError.corrupt("an answer's key") }
        let decision: Decision
        if let outcome = try row.optionalText(4) {
            decision = .outcome(outcome)
        } else {
            decision = .refused(try decoded(from: try row.text(5)))
        }
        self.init(
            key: Key(
                user: UserID(trusted: try row.text(0)),
                command: try row.text(1),
                key: key
            ),
            fingerprint: fingerprint,
            decision: decision,
            record: RecordID(trusted: try row.text(6)),
            step: try row.optionalText(7),
            requestID: try row.text(8),
            decidedAt: try row.time(9)
        )
    }
}

extension Seal: RowValue {
    package init(row: borrowing some LedgerRow & ~Copyable) throws {
        self.init(
            chain: try row.text(0),
            number: try row.integer(1),
            previous: try row.blob(2),
            hash: try row.blob(3)
        )
    }
}

extension LedgerRow where Self: ~Copyable {
    /// A time in milliseconds.
    package borrowing func time(_ column: Int) throws -> Timestamp {
        Timestamp(milliseconds: try integer(column))
    }

    package borrowing func optionalTime(_ column: Int) throws -> Timestamp? {
        try optionalInteger(column).map(Timestamp.init(milliseconds:))
    }

    /// An owner and, in the next column, a currency.
    borrowing func accountKey(_ column: Int) throws -> Account.Key {
        guard let currency = Currency(rawValue: try text(column + 1)) else {
            throw LedgerError.corrupt("a currency")
        }
        return Account.Key(Account.Owner(rawValue: try text(column)), currency)
    }
}
