import GotchuCore
import Ledger
import LedgerTestSupport
import Testing

@testable import Funding

@Suite("Payees")
struct PayeeTests {
    private static func seen(
        _ account: String,
        user: UserID,
        submitted: Bool = false
    ) -> Observation {
        .payee(
            SeenPayee(
                account: account,
                user: user.rawValue,
                canReceive: false,
                chargesEnabled: false,
                payoutsEnabled: false,
                detailsSubmitted: submitted
            )
        )
    }

    @Test("An abandoned set-up is not refreshed any more until somebody continues it")
    func abandoned() throws {
        var rig = FundingBooks()
        let user = try rig.user("payee")
        let id = try rig.submit(PutPayee(user)).get().id
        func payee() throws -> Payee? { try rig.books.rows.records[id].map { try Payee($0) } }
        var looks = 0
        while let refreshAt = try payee()?.refreshAt {
            rig.time = max(rig.time, refreshAt)
            _ = try rig.submit(Wake(id)).get()
            _ = try rig.submit(Observe(id, Self.seen("acct_1", user: user))).get()
            looks += 1
            try #require(looks < 1_000)
        }
        #expect(looks > PayeeBody.refreshLimit)
        // A request for the payee's state still causes one refresh.
        rig.pass(.seconds(2))
        #expect(try payee()?.needsAccountRefresh(at: rig.time) == true)
        _ = try rig.submit(Wake(id)).get()
        _ = try rig.submit(Observe(id, Self.seen("acct_1", user: user))).get()
        #expect(try payee()?.refreshAt == nil)
        #expect(try payee()?.needsAccountRefresh(at: rig.time) == false)
        _ = try rig.submit(PutPayee(user)).get()
        #expect(try payee()?.refreshAt != nil)
        let submitted = Self.seen("acct_1", user: user, submitted: true)
        _ = try rig.submit(Observe(id, submitted)).get()
        #expect(try payee()?.state == .pendingVerification && payee()?.refreshAt != nil)
    }

    @Test("An account that cannot be read is refreshed for two to five days")
    func silent() throws {
        var rig = FundingBooks()
        let user = try rig.user("payee")
        let id = try rig.submit(PutPayee(user)).get().id
        _ = try rig.submit(Observe(id, Self.seen("acct_1", user: user))).get()
        let start = rig.time
        while let refreshAt = try rig.books.rows.records[id].map({ try Payee($0) })?.refreshAt {
            rig.time = max(rig.time, refreshAt)
            _ = try rig.submit(Wake(id)).get()
            _ = try rig.submit(Observe(id, .unknown(after: .seconds(900)))).get()
            try #require(start.duration(to: rig.time) < .seconds(5 * 86_400))
        }
        #expect(start.duration(to: rig.time) > .seconds(2 * 86_400))
    }

    @Test("An account of another user, or a second account, does not become the payee's account")
    func others() throws {
        var rig = FundingBooks()
        let (one, two) = (try rig.user("one"), try rig.user("two"))
        let id = try rig.submit(PutPayee(one)).get().id
        _ = try rig.submit(Observe(id, Self.seen("acct_1", user: two))).get()
        #expect(try Payee(#require(rig.books.rows.records[id])).body.account == nil)
        _ = try rig.submit(Observe(id, Self.seen("acct_1", user: one))).get()
        _ = try rig.submit(Observe(id, Self.seen("acct_2", user: one))).get()
        #expect(try Payee(#require(rig.books.rows.records[id])).body.account == "acct_1")
    }

    @Test("A linked user withdraws to the other user's account and has no set-up of their own")
    func linked() throws {
        var rig = FundingBooks()
        let (one, two) = (try rig.user("one", cents: 500), try rig.user("two", cents: 500))
        #expect(throws: Refusal(.payeeNotOnboarded)) {
            try rig.submit(LinkPayee(two, to: one)).get()
        }
        try rig.onboard(one)
        _ = try rig.submit(LinkPayee(two, to: one)).get()
        // No user can be linked to a linked user.
        #expect(throws: Refusal(.payeeNotOnboarded)) {
            try rig.submit(LinkPayee(one, to: two)).get()
        }
        let id = try rig.withdraw(200, by: two).outcome.get()
        #expect(try rig.withdrawal(id).body.account == "acct_\(one)")
        #expect(rig.balance(.user(two)) == 300 && rig.balance(.user(one)) == 500)
        #expect(try rig.submit(Wake(Payee.id(of: two))).get() == nil)
        #expect(rig.complaint == nil)
        _ = try rig.submit(LinkPayee(two, to: two)).get()
        #expect(try rig.withdraw(100, by: two).refusal == Refusal(.payeeNotOnboarded))
    }

    @Test("A payee whose account is closed cannot withdraw, and can set up another account")
    func renewed() throws {
        var rig = FundingBooks()
        let user = try rig.user("payee", cents: 5_000)
        try rig.onboard(user)
        let id = Payee.id(of: user)
        func payee() throws -> Payee { try Payee(#require(rig.books.rows.records[id])) }
        #expect(try rig.submit(RenewPayee(user)).get() == false)
        let gone = ProviderRefusal(.other, code: "account_invalid", message: "")
        _ = try rig.submit(Observe(id, .refused(gone), of: .readAccount("acct_\(user)"))).get()
        #expect(try payee().state == .restricted && payee().body.disabledReason == PayeeBody.closed)
        #expect(try rig.withdraw(100, by: user).refusal == Refusal(.payeeNotOnboarded))
        #expect(try rig.submit(RenewPayee(user)).get())
        #expect(try payee().state == .notSetUp && payee().body.pastAccounts == ["acct_\(user)"])
        // The user has not requested another account yet, so a notification about the old account
        // opens none.
        #expect(try rig.submit(Wake(id)).get() == nil)
        _ = try rig.submit(PutPayee(user)).get()
        guard case .openAccount(let order) = try rig.submit(Wake(id)).get() else {
            Issue.record("no account is opened")
            return
        }
        #expect(order.pastAccounts == ["acct_\(user)"])
        // The old account may still be listed.
        _ = try rig.submit(Observe(id, Self.seen("acct_\(user)", user: user))).get()
        #expect(try payee().body.account == nil)
        _ = try rig.submit(Observe(id, Self.seen("acct_2", user: user))).get()
        #expect(try payee().body.account == "acct_2" && rig.complaint == nil)
        // Late refusals of a read of the old account, and of the call that opened the new account,
        // do not affect the new account.
        _ = try rig.submit(Observe(id, .refused(gone), of: .readAccount("acct_\(user)"))).get()
        _ = try rig.submit(Observe(id, .refused(gone), of: .openAccount(order))).get()
        #expect(try payee().body.disabledReason == nil)
    }

    @Test("A set-up long after the renewal searches once, and then opens another account at once")
    func renewedLongAgo() throws {
        var rig = FundingBooks()
        let user = try rig.user("payee")
        try rig.onboard(user)
        let id = Payee.id(of: user)
        let gone = ProviderRefusal(.other, code: "account_invalid", message: "")
        _ = try rig.submit(Observe(id, .refused(gone), of: .readAccount("acct_\(user)"))).get()
        #expect(try rig.submit(RenewPayee(user)).get())
        rig.pass(Pace.keyLife)
        _ = try rig.submit(PutPayee(user)).get()
        let search = try rig.submit(Wake(id)).get()
        guard case .findAccount = search,
            case .openAccount(let order) = try rig.submit(Observe(id, .absent, of: search)).get()
        else {
            Issue.record("no account is opened at once")
            return
        }
        // The outcome of this call is not known, so a list proves nothing until the second one.
        let retry = try rig.submit(Observe(id, .absent, of: .openAccount(order))).get()
        #expect(retry == nil)
        rig.pass(Pace.listing)
        let second = Observe(id, .absent, of: .findAccount(order))
        guard case .openAccount = try rig.submit(second).get() else {
            Issue.record("no account is opened after the second list")
            return
        }
        _ = try rig.submit(Observe(id, Self.seen("acct_2", user: user))).get()
        #expect(rig.complaint == nil)
    }
}
