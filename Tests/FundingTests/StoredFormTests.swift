import GotchuCore
import Ledger
import Testing

@testable import Funding

/// Records in their stored form. Later versions must read and write this form unchanged.
@Suite("Stored deposits, withdrawals and payees")
struct StoredFormTests {
    private static let bound = #"""
        {"account":"acct_1","currency":"usd","isLive":false,\#
        "payouts":{"firstSales":10,"holdHours":48,"minimum":100},\#
        "watermark":"2030-03-17T17:46:40.000Z"}
        """#

    private static let deposit = #"""
        {"attempts":{"attempt":1,"isSearching":false,"since":1900000000500},\#
        "booked":{"pi_1":2000,"txn_1":88},"creditedAt":"2030-03-17T17:46:41.000Z",\#
        "currency":"usd",\#
        "expiresAt":"2030-03-17T19:46:40.000Z","intent":"pi_1","isAccepted":false,\#
        "isCancellationRequested":false,\#
        "isFeeKnown":true,"isLive":false,\#
        "minorUnits":2000,"presentation":"hosted","reference":"table 7",\#
        "refreshCount":1,"refreshedAt":"2030-03-17T17:46:41.000Z"}
        """#

    private static func record(_ kind: String, _ state: String, _ body: String) -> Record {
        Record(
            id: RecordID(trusted: "r"),
            kind: kind,
            owner: UserID(trusted: "u"),
            state: state,
            version: 7,
            createdAt: Timestamp(milliseconds: 1_900_000_000_000),
            dueAt: nil,
            body: body
        )
    }

    @Test("A deposit, a withdrawal, a payee and the provider are read and written unchanged")
    func forms() throws {
        let deposit = Self.record("deposit", "SUCCEEDED", Self.deposit)
        #expect(try Deposit(deposit).record == deposit)
        let withdrawal = Self.record(
            "withdrawal",
            "PAID",
            #"""
            {"account":"acct_1","attempts":{"attempt":4,"isSearching":false,\#
            "nothingAt":1900000001500},"booked":{"po_1:paid":400,"r:taken":400,"tr_1":400},\#
            "currency":"usd","isCalled":true,\#
            "isReturnRequested":false,\#
            "minorUnits":400,"needsRelease":false,"paidAt":"2030-03-17T17:46:42.000Z",\#
            "pastPayouts":[],"payout":"po_1",\#
            "refreshCount":2,"refreshedAt":"2030-03-17T17:46:41.000Z","transfer":"tr_1"}
            """#
        )
        #expect(try Withdrawal(withdrawal).record == withdrawal)
        let payee = Self.record(
            "payee",
            "ACTIVE",
            #"""
            {"account":"acct_1","attempts":{"attempt":1,"isSearching":false},\#
            "chargesEnabled":false,"currentlyDue":[],"detailsSubmitted":true,\#
            "isReleased":true,"pastAccounts":[],"payoutsEnabled":true,"refreshCount":3}
            """#
        )
        #expect(try Payee(payee).record == payee)
        let provider = Self.record("provider", "BOUND", Self.bound)
        #expect(try Provider(provider).record == provider)
    }

    @Test("A record in a state that its kind does not have is refused")
    func unreadable() {
        #expect(throws: LedgerError.self) {
            try Provider(Self.record("provider", "FREE", Self.bound))
        }
        #expect(throws: LedgerError.self) {
            try Deposit(Self.record("deposit", "PAID", Self.deposit))
        }
    }
}
