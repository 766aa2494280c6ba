import Funding
import GotchuCore
import LedgerStore
import LedgerTestSupport
import TestSupport
import Testing

@testable import Ledger

/// Deposits, withdrawals and payees in every store.
@Suite("Money in and out in every store")
struct FundingStoreTests {
    @Test(
        "Deposits and withdrawals have the same effects as in memory, and leave a clean ledger",
        arguments: StoreKind.all
    )
    func story(kind: StoreKind) async throws {
        let database = try kind.makeDatabase()
        let store = try database.open()
        var memory = MemoryBooks()
        for (index, command) in FundingStory.commands.enumerated() {
            let time = Timestamp(milliseconds: 1_000 * Int64(index + 1))
            let chain = "chain-\(100 + index)"
            let expected = try memory.commit(Batch([try command(time)], chain: chain))
            let effects = try await store.commit(Batch([try command(time)], chain: chain))
            #expect(effects == expected, "command \(index)")
            #expect(!effects.isEmpty, "command \(index) does nothing")
        }
        try await store.expectSame(as: memory.rows)
        // The debt is the refunded deposit, less the wallet's balance at that time (the opening and
        // the 500 that were not withdrawn), less the forgiven 100.
        let owed = Account.Key(.houseOf(.owed, Cast.users[0]), .usd)
        let range = HistoryRange(.newest(skipping: 0), limit: 1)
        let account = try await store.history(of: owed, range)?.account
        #expect(account?.balance == -(2_000 - Cast.opening - 500 - 100))
        #expect(try await store.debtors() == [Cast.users[0]])
        let audit = try database.audit(
            kinds: TransferKind.funding,
            records: [.deposits, .withdrawals, .payees, .provider]
        )
        #expect(audit.isClean, "\(audit.findings.compactMap(\.violation))")
    }
}
