import GotchuCore
import Ledger
import LedgerTestSupport
import Testing

/// Opening wallets and asking for money.
@Suite("Creation")
struct CreationTests {
    @Test("a wallet is opened once, from the mint, and the mint goes below zero")
    func openOnce() {
        var rig = Rig()
        let before = rig.books
        rig.take(.open(user: 0))
        #expect(rig.books == before)
        let mint = Wallet.Place(owner: .system(.developmentMint), currency: .usd)
        #expect(rig.books.rows.wallets[mint]?.balance == -30)
        #expect(rig.books.complaint == nil)
    }

    @Test("an opening of nothing makes no transfer")
    func openEmpty() {
        var rig = Rig()
        let before = rig.books.transfers.count
        let open = OpenWallet(
            email: "poor@example.org",
            displayName: "poor",
            opening: Money(minorUnits: 0)
        )
        _ = rig.decide(command(.openWallet(open)))
        #expect(rig.books.transfers.count == before)
        #expect(rig.books.complaint == nil)
    }

    @Test("a taken EID is passed over, and with none free the command is refused")
    func takenEIDs() {
        var rig = Rig()
        let eids = Cast.eids
        let first = create(rig, eids: [eids[0]])
        #expect(rig.decide(first).session?.eid == eids[0])
        #expect(rig.decide(create(rig, eids: [eids[0], eids[1]])).session?.eid == eids[1])
        let before = rig.books
        #expect(rig.decide(create(rig, eids: [eids[1], eids[0]])).reason == .noFreeEID)
        #expect(rig.books == before)
    }

    @Test("the same EID proposed twice in one batch goes to the first")
    func takenWithinABatch() {
        let rig = Rig()
        let commands = [create(rig, eids: [Cast.eids[0]]), create(rig, eids: [Cast.eids[0]])]
        let decision = apply(commands, to: rig.books.load(Footprint(commands)))
        #expect(decision.answers.map(\.reason) == [nil, .noFreeEID])
    }

    @Test("a payee has at most 1,000 sessions that are not over")
    func liveLimit() {
        let rig = Rig()
        var rows = rig.books.load(Footprint([create(rig, eids: Cast.eids)]))
        rows.liveSessions[Cast.users[0]] = CreateSession.usualLiveLimit - 1
        let commands = [
            create(rig, eids: [Cast.eids[0]]), create(rig, eids: [Cast.eids[1]]),
        ]
        let decision = apply(commands, to: rows)
        #expect(decision.answers.map(\.reason) == [nil, .tooManyLiveSessions])
    }

    @Test("asking for a currency that the payee has no wallet in is refused")
    func otherCurrency() {
        var rig = Rig()
        let asked = create(rig, eids: Cast.eids, amount: Money(minorUnits: 1, currency: .eur))
        #expect(rig.decide(asked).reason == .noWalletInCurrency)
    }

    @Test("a wallet that would overflow is not paid into")
    func overflow() {
        var rig = Rig()
        rig.bring(to: .locked)
        let place = Wallet.Place(owner: .user(Cast.users[0]), currency: .usd)
        rig.books.rows.wallets[place]?.balance = .max - 4
        let send = rig.take(.send(session: 0, user: 1, key: 0, expected: nil))
        #expect(send.reason == .balanceTooLarge)
        #expect(rig.balance(of: 1) == 10)
    }

    @Test("names made later sort later, and are UUIDs of version 7")
    func names() {
        let early = TransferID.make(at: Timestamp(milliseconds: 1_000)).rawValue
        let late = TransferID.make(at: Timestamp(milliseconds: 1_001)).rawValue
        #expect(early < late)
        #expect(
            early.wholeMatch(of: /00000000-03e8-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil
        )
    }

    private func create(
        _ rig: Rig,
        eids: [EID],
        amount: Money = Money(minorUnits: 1)
    ) -> Command {
        command(
            .createSession(
                CreateSession(
                    payee: Cast.users[0],
                    amount: amount,
                    memo: nil,
                    reference: nil,
                    lifetime: .seconds(300),
                    eids: eids
                )
            )
        )
    }

    private func command(_ action: Command.Action) -> Command {
        Command(acceptedAt: Timestamp(milliseconds: 1_000), action: action)
    }
}
