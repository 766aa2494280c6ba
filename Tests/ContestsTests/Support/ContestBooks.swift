import GotchuCore
import Ledger
import LedgerTestSupport
import Payments

@testable import Contests

/// A ledger in memory with contests. It commits each command at once.
struct ContestBooks {
    private(set) var books = MemoryBooks()
    private var number = 0

    static let users = (0..<6).map { UserID(trusted: "user-\($0)") }

    /// - Parameter opening: Each user's balance at the beginning, in minor units.
    init(opening: Int64 = 2000) throws {
        for (number, user) in Self.users.enumerated() {
            let open = OpenAccount(
                login: "user\(number)@example.org",
                displayName: "User \(number)",
                opening: Money(minorUnits: opening),
                user: user
            )
            _ = try submit(open, at: Sample.start)
        }
    }

    /// Decides and saves a command.
    @discardableResult
    mutating func submit<Command: LedgerCommand>(
        _ command: Command,
        at time: Timestamp
    ) throws -> StepAnswer? {
        let submitted = Submitted(command, at: time)
        try books.commit(Batch([submitted], tail: books.seals.last))
        return submitted.answer
    }

    /// Decides and saves a command under an idempotency key, by default a new one.
    @discardableResult
    mutating func submit<Command: KeyedCommand>(
        _ command: Command,
        by user: UserID,
        at time: Timestamp,
        key: String? = nil
    ) throws -> StepAnswer? {
        number += 1
        let request = try KeyedRequest.test(
            user: user,
            key: key ?? "key-0123456789-\(number)",
            id: "request-\(number)"
        )
        let submitted = Submitted(command, as: request, at: time)
        try books.commit(Batch([submitted], tail: books.seals.last))
        return submitted.answer
    }

    /// Decides and saves several commands in one commit.
    mutating func commit(_ submitted: [Submitted]) throws {
        try books.commit(Batch(submitted, tail: books.seals.last))
    }

    func contest(_ id: RecordID) throws -> Contest? {
        try books.rows.records[id].map { try Contest($0) }
    }

    /// Returns the command that declares a revision as the result.
    func complete(
        _ id: RecordID,
        by organizer: UserID,
        revision: Int64
    ) throws -> CompleteContest {
        let numbers = books.rows.children[id, default: [:]].sorted { $0.key < $1.key }
        let (entries, revisions) = try ContestChildren.read(
            numbers.compactMap { books.rows.records[$0.value] }
        )
        let sheet = ScoreSheet(revisions.map(\.body.scores))
        let terms = try contest(id)?.terms
        return CompleteContest(
            contest: id,
            organizer: organizer,
            revision: revision,
            hasResult: entries.contains { entry in
                terms.map { sheet.result(of: entry, $0) != nil } ?? false
            }
        )
    }

    func balance(of user: UserID) -> Int64 {
        books.rows.accounts[Account.Key(.user(user), .usd)]?.balance ?? 0
    }

    func pot(of contest: RecordID) -> Int64 {
        books.rows.accounts[Account.Key(.pot(contest), .usd)]?.balance ?? 0
    }

    func take(of user: UserID) -> Int64 {
        books.rows.accounts[Account.Key(.houseOf(.take, user), .usd)]?.balance ?? 0
    }

    /// The first rule of `verify` that is violated; `nil` if no rule is.
    var complaint: String? {
        let sum = books.rows.accounts.values.reduce(0) { $0 + $1.balance }
        guard sum == 0 else { return "money is not conserved: \(sum)" }
        let kinds: [TransferKind] = [.opening, .stake, .prize, .returned]
        let rules = LedgerRules(kinds)
        for transfer in books.transfers.values {
            if let broken = rules.violation(transfer, storedHash: transfer.hash) { return broken }
        }
        for record in books.rows.records.values {
            let rules = RecordRule.contests + [.sessions, .groups]
            guard let rule = rules.first(where: { $0.kind == record.kind }) else {
                return "no rule for \(record.kind)"
            }
            let rows = books.recordRows(of: record.id)
            if let broken = rule.violation(record, rows) { return broken }
        }
        return nil
    }

    mutating func spoil(_ change: (inout Snapshot) -> Void) {
        change(&books.rows)
    }
}
