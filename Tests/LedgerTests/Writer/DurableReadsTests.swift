import GotchuCore
import Ledger
import LedgerTestSupport
import TestSupport
import Testing

@testable import Payments

/// Reads of a database whose replicas may lag behind, and changes by other servers.
@Suite("Durable reads")
struct DurableReadsTests {
    /// Returns the error code of a read; `nil` if the read succeeds. It must then find something.
    private func code(_ read: () async throws -> Bool) async -> LedgerError.Code? {
        do {
            let isFound = try await read()
            #expect(isFound)
            return nil
        } catch {
            return (error as? LedgerError)?.code
        }
    }

    @Test(
        "If a replica may lag behind, a payment is shown only after a commit",
        arguments: [true, false]
    )
    func commitsFirst(readsAhead: Bool) async throws {
        let memory = MemoryStore(mayReadUnreplicated: readsAhead)
        let store = FaultyStore(memory)
        try await withLedger(on: store, kinds: []) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 5)
            let open = try await ledger.lockedSession(payee: payee, payer: payer, cents: 9)
            let paid = try await ledger.lockedSession(payee: payee, payer: payer, cents: 3)
            let keys = ["key-0123456789-0", "key-0123456789-1"]
            #expect(try await ledger.pay(paid, by: payer, key: keys[0]).isAccepted)
            #expect(try await ledger.pay(open, by: payer, key: keys[1]).isRemembered)
            let answers = keys.compactMap { IdempotencyKey(rawValue: $0) }
                .map { Answer.Key(user: payer, command: "pay", key: $0) }
            let account = Account.Key(.user(payer), .usd)
            let range = HistoryRange(.newest(skipping: 0), limit: 9)

            store.fail(with: LedgerError(.tryAgain, "There is no room."))
            let expected: LedgerError.Code? = readsAhead ? .tryAgain : nil
            let name = Session.name(of: paid.eid)
            let codes = [
                await code { try await ledger.record(paid.recordID) != nil },
                await code { try await ledger.record(named: name) != nil },
                await code { try await ledger.answer(answers[0]) != nil },
                await code { try await ledger.history(of: account, range) != nil },
            ]
            #expect(codes == Array(repeating: expected, count: 4))
            // These reads report no moved money, so they need no commit.
            #expect(try await ledger.record(open.recordID)?.state == "LOCKED")
            #expect(try await ledger.answer(answers[1])?.transfer == nil)
            #expect(try await ledger.record(RecordID(trusted: "unknown")) == nil)

            store.fail(with: nil)
            #expect(try await ledger.record(paid.recordID)?.state == "PAID")
            #expect(try await ledger.history(of: account, range)?.entries.count == 2)
        }
        #expect(memory.books.complaint == nil)
    }

    @Test("Watchers receive another server's changes of their own record or account, and no others")
    func relay() async throws {
        let changes = ChangeMailbox()
        let memory = MemoryStore(changes: changes)
        try await withLedger(on: memory, kinds: []) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 5)
            let watched = try await ledger.openSession(payee: payee, cents: 3)
            let other = try await ledger.openSession(payee: payee, cents: 3)
            let watch = try ledger.feed.watch(watched.recordID, by: "payee")
            let (calls, call) = AsyncStream.makeStream(of: Void.self)
            watch.listen { call.yield() }
            func news() async -> Record? {
                for await _ in calls {
                    if case .changed(let record, _) = watch.next() { return record }
                }
                return nil
            }
            func otherServer(_ command: some LedgerCommand) async throws {
                _ = try await memory.commit(Batch([Submitted(command, at: .now)]))
            }
            try await otherServer(LockSession(session: other.id, payer: payer))
            try await otherServer(LockSession(session: watched.id, payer: payer))
            changes.put(Changes(records: [other.recordID, watched.recordID]))
            let locked = try #require(await news())
            #expect(locked.id == watched.recordID && locked.state == "LOCKED")
            try await otherServer(UnlockSession(session: watched.id, payer: payer))
            changes.put(Changes(isEverything: true))
            let free = try #require(await news())
            #expect(free.state == "ADVERTISING" && free.version == 3)

            let account = Account.Key(.user(payee), .usd)
            let wallet = try ledger.feed.watch(account, by: "payee")
            let (signals, signal) = AsyncStream.makeStream(of: Void.self)
            wallet.listen { signal.yield() }
            func balance() async -> Int64? {
                for await _ in signals {
                    if case .changed(let state, _) = wallet.next() { return state.account.balance }
                }
                return nil
            }
            for paid in [watched, other] {
                try await otherServer(LockSession(session: paid.id, payer: payer))
            }
            try await otherServer(Pay(session: watched.id, payer: payer, expectedAmount: 3))
            changes.put(Changes(accounts: [account, Account.Key(.user(payer), .usd)]))
            #expect(await balance() == 3)
            changes.put(Changes(isEverything: true))
            #expect(await balance() == 3)
        }
    }
}
