import GotchuCore
import Ledger
import LedgerTestSupport
import Payments
import Testing

/// Opening accounts and requesting money.
@Suite("Creation")
struct CreationTests {
    @Test("An account is opened once, from the mint, and the mint goes below zero")
    func openOnce() {
        var rig = Rig()
        let before = rig.books
        #expect(rig.submit(.open(user: 0)).user?.id == Cast.users[0])
        #expect(rig.books == before)
        #expect(rig.books.rows.accounts[Cast.mint]?.balance == -30)
        #expect(rig.books.complaint == nil)
    }

    @Test("A known login returns its user, even if another id is proposed")
    func knownLogin() {
        var rig = Rig()
        let before = rig.books
        let open = OpenAccount(
            login: "user1@example.org",
            displayName: "another",
            opening: Money(minorUnits: 7)
        )
        let user = rig.decide(open).user
        #expect(user?.id == Cast.users[1] && user?.displayName == "user1")
        #expect(rig.books == before)
    }

    @Test("Two openings with the same login in one batch create one user")
    func sameLoginInABatch() {
        var rig = Rig()
        let commands = (0..<2).map { _ in
            Submitted(
                OpenAccount(login: "new", displayName: "new", opening: Money(minorUnits: 7)),
                at: Timestamp(milliseconds: rig.time)
            )
        }
        let effects = rig.commit(commands)
        #expect(effects.newUsers.count == 1 && effects.transfers.count == 1)
        #expect(commands[0].answer == commands[1].answer && commands[0].answer?.user != nil)
        #expect(rig.books.complaint == nil)
    }

    @Test("An opening without money makes no transfer")
    func openEmpty() {
        var rig = Rig()
        let before = rig.books.transfers.count
        let open = OpenAccount(
            login: "poor@example.org",
            displayName: "poor",
            opening: Money(minorUnits: 0)
        )
        let user = rig.decide(open).user
        #expect(rig.books.transfers.count == before)
        let account = user.flatMap { rig.books.rows.accounts[Account.Key(.user($0.id), .usd)] }
        #expect(account?.balance == 0 && account?.entryCount == 0)
        #expect(rig.books.complaint == nil)
    }

    @Test("A taken EID is skipped, and a request without a free EID is refused")
    func takenEIDs() {
        var rig = Rig()
        let eids = Cast.eids
        #expect(rig.decide(create(eids: [eids[0]])).session?.eid == eids[0])
        #expect(rig.decide(create(eids: [eids[0], eids[1]])).session?.eid == eids[1])
        let before = rig.books
        #expect(rig.decide(create(eids: [eids[1], eids[0]])).reason == .noFreeEID)
        #expect(rig.books == before)
    }

    @Test("An EID that is proposed twice in one batch goes to the first session")
    func takenWithinABatch() {
        var rig = Rig()
        let commands = submitted([create(eids: [Cast.eids[0]]), create(eids: [Cast.eids[0]])])
        rig.commit(commands)
        #expect(commands.map { $0.answer?.reason } == [nil, .noFreeEID])
        #expect(commands[0].answer?.session != nil)
    }

    @Test("A payee has at most 1,000 live sessions")
    func liveLimit() throws {
        let rig = Rig()
        let commands = submitted([create(eids: [Cast.eids[0]]), create(eids: [Cast.eids[1]])])
        let batch = Batch(commands)
        var rows = rig.books.load(batch)
        let group = Cast.sessions(of: Cast.users[0])
        #expect(rows.dueCounts[group] == 0)
        rows.dueCounts[group] = 999
        _ = batch.decide(on: rows)
        #expect(commands.map { $0.answer?.reason } == [nil, .tooManyLiveSessions])
        #expect(commands[0].answer?.session != nil)
    }

    @Test(
        "A session that has ended does not count against the limit of live sessions",
        arguments: [SessionStatus.paid, .expired, .cancelled]
    )
    func roomAgain(status: SessionStatus) {
        var rig = Rig()
        rig.bring(to: status)
        rig.submit(.expire(session: 0))
        #expect(rig.decide(create(eids: [Cast.eids[1]], liveLimit: 1)).session != nil)
        let second = rig.decide(create(eids: [Cast.eids[2]], liveLimit: 1))
        #expect(second.reason == .tooManyLiveSessions)
    }

    @Test("A request in a currency that the payee has no account in is refused")
    func otherCurrency() {
        var rig = Rig()
        let asked = create(eids: Cast.eids, amount: Money(minorUnits: 1, currency: .eur))
        #expect(rig.decide(asked).reason == .noWalletInCurrency)
    }

    @Test("A payment in a currency that the payer has no account in is refused")
    func payerWithoutAccount() {
        var rig = Rig()
        let euros = Account.Key(.user(Cast.users[0]), .eur)
        rig.books.rows.accounts[euros] = Account(euros, changedAt: Timestamp(milliseconds: 0))
        let amount = Money(minorUnits: 3, currency: .eur)
        rig.decide(create(id: Cast.sessions[0], eids: Cast.eids, amount: amount))
        rig.submit(.lock(session: 0, user: 1))
        let paid = rig.submit(.send(session: 0, user: 1, key: 0, expected: nil))
        #expect(paid.refusal == Refusal(.insufficientBalance, required: 3, available: 0))
        #expect(paid.isRemembered)
    }

    @Test("A payment that would overflow its receiver's account is refused")
    func overflow() {
        var rig = Rig()
        rig.bring(to: .locked)
        let key = Cast.account(0)
        let changedAt = Timestamp(milliseconds: 1_000)
        rig.books.rows.accounts[key] = Account(
            key,
            balance: .max - 4,
            entryCount: 1,
            changedAt: changedAt
        )
        let paid = rig.submit(.send(session: 0, user: 1, key: 0, expected: nil))
        #expect(paid.reason == .balanceTooLarge)
        #expect(rig.balance(of: 1) == 10 && rig.balance(of: 0) == .max - 4)
    }

    @Test("Ids made later sort later, and are UUIDs of version 7")
    func ids() {
        let early = RecordID.make(at: Timestamp(milliseconds: 1_000)).rawValue
        let late = RecordID.make(at: Timestamp(milliseconds: 1_001)).rawValue
        #expect(early < late)
        #expect(
            early.wholeMatch(of: /00000000-03e8-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil
        )
    }

    private func create(
        id: SessionID = .make(),
        eids: [EID],
        amount: Money = Money(minorUnits: 1),
        liveLimit: Int = CreateSession.defaultLiveLimit
    ) -> CreateSession {
        CreateSession(
            id: id,
            payee: Cast.users[0],
            amount: amount,
            memo: nil,
            reference: nil,
            lifetime: .seconds(300),
            eids: eids,
            liveLimit: liveLimit
        )
    }

    private func submitted(_ commands: [CreateSession]) -> [Submitted] {
        commands.map { Submitted($0, at: Timestamp(milliseconds: 1_000)) }
    }
}
