import GotchuCore
import LedgerStore
import LedgerTestSupport
import Payments
import Testing

@testable import Ledger

/// The result of a committed batch.
struct Committed: Sendable {
    let effects: Effects
    /// The answers of its commands, in their order; `nil` for a command that was not decided.
    let answers: [StepAnswer?]
}

extension LedgerStorage {
    /// Commits steps in one batch, as a server's writer does.
    ///
    /// - Parameters:
    ///   - first: The number of the first step. The numbers are parts of the request ids.
    ///   - tail: The previous seal; `nil` begins a new chain.
    ///   - chain: The id of the new chain.
    @discardableResult
    func commit(
        _ steps: [Step],
        first: Int = 0,
        tail: Seal? = nil,
        chain: String = Seal.newChain()
    ) async throws(LedgerError) -> Committed {
        let submitted = steps.enumerated().map { $1.submission(number: first + $0) }
        let effects = try await commit(Batch(submitted, tail: tail, chain: chain))
        return Committed(effects: effects, answers: submitted.map(\.answer))
    }

    /// Commits actions in one batch, at one time.
    @discardableResult
    func commit(
        _ actions: Step.Action...,
        at time: Int64 = 1_000
    ) async throws(LedgerError) -> Committed {
        try await commit(actions.map { Step(time: time, action: $0) }, first: 50)
    }

    /// Commits one command, accepted or refused.
    @discardableResult
    func commitOne(
        _ command: some LedgerCommand,
        tail: Seal? = nil
    ) async throws(LedgerError) -> Effects {
        try await commit(Batch([Pending(command, at: .now) { _ in }], tail: tail))
    }

    /// Returns a session as it is stored.
    func session(_ id: SessionID) async throws -> Session? {
        try await record(RecordID(id)).map { record in try Session(record) }
    }

    /// Returns the balance of a user's account in dollars, in minor units.
    func balance(of user: UserID) async throws -> Int64? {
        try await account(of: user)?.balance
    }

    /// Returns the newest entries of a user's account in dollars.
    func account(of user: UserID, entries: Int) async throws -> AccountHistory? {
        try await history(
            of: Account.Key(.user(user), .usd),
            HistoryRange(.newest(skipping: 0), limit: entries)
        )
    }

    /// Expects that the stored rows equal the rows of a ledger in memory.
    func expectSame(as rows: Snapshot) async throws {
        for (id, record) in rows.records { #expect(try await self.record(id) == record) }
        for (key, answer) in rows.answers { #expect(try await self.answer(key) == answer) }
        for (key, account) in rows.accounts {
            let range = HistoryRange(.newest(skipping: 0), limit: 1)
            #expect(try await history(of: key, range)?.account == account)
        }
        for (text, name) in rows.names {
            guard let record = rows.records[RecordID(trusted: name.target)] else { continue }
            let found = try await self.record(named: text)
            #expect(found?.record == record && found?.until == name.until)
            #expect(found?.ownerName == rows.users[record.owner]?.displayName)
        }
    }
}
