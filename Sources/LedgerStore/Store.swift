package import GotchuCore
package import Ledger
package import ServiceLifecycle

/// A database with the ledger in it. Failures are `LedgerError`s.
package protocol Store: LedgerStorage, Database, Service {}

extension Store {
    package func record(_ id: RecordID) async throws(LedgerError) -> Record? {
        try await read(Reads.record(id)).first
    }

    package func record(named name: String) async throws(LedgerError) -> NamedRecord? {
        try await read(Reads.record(named: name)).first
    }

    package func answer(_ key: Answer.Key) async throws(LedgerError) -> Answer? {
        try await read(Reads.answer(key)).first
    }

    package func history(
        of account: Account.Key,
        _ range: HistoryRange
    ) async throws(LedgerError) -> AccountHistory? {
        AccountHistory(try await read(Reads.history(of: account, range)))
    }

    package func earnings(
        of account: Account.Key,
        _ range: EarningsRange
    ) async throws(LedgerError) -> AccountEarnings? {
        try await read(Reads.earnings(of: account, range))
    }

    package func records(_ page: RecordPage) async throws(LedgerError) -> [Record] {
        try await read(Reads.records(page))
    }

    package func children(
        of parent: RecordID,
        after: Int64,
        limit: Int
    ) async throws(LedgerError) -> [NumberedRecord] {
        try await read(Reads.children(of: parent, after: after, limit: limit))
    }

    package func due(
        at time: Timestamp,
        excluding kinds: [String],
        skipping: Int,
        limit: Int
    ) async throws(LedgerError) -> [DueRecord] {
        try await read(Reads.due(at: time, excluding: kinds, skipping: skipping, limit: limit))
    }

    package func claimDue(
        kind: String,
        at time: Timestamp,
        until leaseEnd: Timestamp,
        limit: Int
    ) async throws(LedgerError) -> [DueRecord] {
        try await change(Reads.DueClaim(kind: kind, time: time, leaseEnd: leaseEnd, limit: limit))
    }

    /// Returns the user with an id or a login.
    package func user(id: UserID, orLogin login: String) async throws(LedgerError) -> User? {
        try await read(
            Select<User>(
                """
                SELECT \(Columns.users.list) FROM users
                WHERE id = $1 OR id = (SELECT target FROM names WHERE name = $2)
                """,
                [.text(id.rawValue), .text(User.name(ofLogin: login))]
            )
        ).first
    }

    /// Returns the currencies in which a user has a wallet.
    package func currencies(of user: UserID) async throws(LedgerError) -> [Currency] {
        try await read(
            Select<String>(
                "SELECT currency FROM accounts WHERE owner = $1",
                [.text(user.rawValue)]
            )
        ).compactMap { Currency(rawValue: $0) }
    }

    /// Returns the users who owe anything.
    package func debtors() async throws(LedgerError) -> [UserID] {
        try await read(
            Select<String>(
                """
                SELECT DISTINCT owner FROM accounts WHERE \(Schema.isDebt) AND balance < 0
                ORDER BY owner
                """
            )
        ).compactMap { owner -> UserID? in
            if case .houseOf(.owed, let user) = Account.Owner(rawValue: owner) { user } else { nil }
        }
    }

    /// Returns the kind of server that has used the ledger so far.
    package func use() async throws(LedgerError) -> LedgerUse {
        try await read(LedgerUse.query).first ?? .neither
    }

    /// Returns the sizes of the tables that are monitored.
    package func reading() async throws(LedgerError) -> StoreReading {
        try await read(StoreReading.query).first ?? StoreReading()
    }
}

/// The kind of server that has used a ledger so far.
package enum LedgerUse: String, Sendable, RowValue {
    /// A development server: its mint issued opening balances, which nobody paid in.
    case development
    /// A production server: users of an OpenID issuer or devices exist, and no opening balances.
    case production
    /// There is no sign of either.
    case neither

    /// The query. A login from an issuer or a device begins with `<`: `<issuer>subject`.
    static let query = Select<LedgerUse>(
        """
        SELECT CASE
            WHEN EXISTS (
                SELECT 1 FROM accounts WHERE owner = '\(HouseAccount.developmentMint.rawValue)'
            ) THEN '\(development.rawValue)'
            WHEN EXISTS (
                SELECT 1 FROM names WHERE name >= '\(User.name(ofLogin: "<"))'
                    AND name < '\(User.name(ofLogin: "="))'
            ) THEN '\(production.rawValue)'
            ELSE '\(neither.rawValue)'
        END
        """
    )

    package init(row: borrowing some LedgerRow & ~Copyable) throws {
        guard let use = LedgerUse(rawValue: try row.text(0)) else {
            throw LedgerError.corrupt("a use of the ledger")
        }
        self = use
    }
}

/// The sizes of the monitored tables at one moment.
package struct StoreReading: Equatable, Sendable, RowValue {
    /// The number of sessions that are not in a final state.
    package var liveRecords = 0
    /// The number of webhook deliveries that wait for an attempt.
    package var waitingWebhooks = 0
    /// The number of webhook deliveries that were given up.
    package var deadWebhooks = 0
    /// The earliest due time among records that are not sessions; `nil` if there are none.
    package var oldestDue: Timestamp?
    /// The sum that users owe, in minor units.
    package var owed: Int64 = 0

    /// The query. Its cost grows only with open records, stored deliveries and `owed` accounts.
    static let query = Select<StoreReading>(
        """
        SELECT (SELECT count(*) FROM due WHERE NOT (\(Schema.isListed))),
            (SELECT count(*) FROM deliveries WHERE dead_at IS NULL),
            (SELECT count(*) FROM deliveries WHERE dead_at IS NOT NULL),
            (SELECT min(due_at) FROM due WHERE \(Schema.isListed)),
            (SELECT coalesce(-sum(balance), 0) FROM accounts WHERE \(Schema.isDebt))
        """
    )

    package init() {}

    package init(row: borrowing some LedgerRow & ~Copyable) throws {
        liveRecords = Int(try row.integer(0))
        waitingWebhooks = Int(try row.integer(1))
        deadWebhooks = Int(try row.integer(2))
        oldestDue = try row.optionalInteger(3).map { Timestamp(milliseconds: $0) }
        owed = try row.integer(4)
    }
}
