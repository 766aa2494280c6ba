import GotchuCore
import Ledger
import LedgerTestSupport
import TestSupport
import Testing

/// What every store must do, whatever keeps the rows.
@Suite("Every store", .timeLimit(.minutes(hangLimit)))
struct StoreTests {
    @Test(
        "stories come to the same as in memory, survive a restart, and leave clean books",
        arguments: StoreKind.allCases
    )
    func stories(kind: StoreKind) async throws {
        var teller = StoryTeller(seed: runSeed)
        for number in 0..<40 {
            let books = try kind.makeBooks()
            var memory = MemoryBooks()
            var store = try books.open()
            let story = (0..<2).map { Step(time: 0, action: .open(user: $0)) } + teller.story()
            for (index, step) in story.enumerated() {
                let command = step.command(number: index)
                let footprint = Footprint([command])
                let expected = apply([command], to: memory.load(footprint))
                memory.save(expected.effects)
                let decision = try await store.commit(touching: footprint) {
                    apply([command], to: $0)
                }
                #expect(decision == expected, "seed \(runSeed), story \(number): \(story)")
                if index == story.count / 2 { store = try books.open() }
            }
            for (id, session) in memory.rows.sessions {
                #expect(try await store.session(id) == session)
            }
            for refund in memory.rows.refunds.values {
                let footprint = Footprint(refunding: refund.key)
                let loaded = try await store.commit(touching: footprint) { rows in
                    Decision(
                        effects: Effects(),
                        answers: rows.refunds.values.map {
                            .refund(RefundAnswer(refund: $0, isReplay: true))
                        }
                    )
                }
                #expect(loaded.answers.first?.refund?.refund == refund)
            }
            for (key, send) in memory.rows.sends { #expect(try await store.send(key) == send) }
            let audit = try books.audit()
            #expect(audit.isClean, "seed \(runSeed), story \(number): \(audit.findings)")
        }
    }

    @Test(
        "of two keys that come at once for one session one pays, and both keep their answer",
        arguments: StoreKind.allCases
    )
    func twoKeysAtOnce(kind: StoreKind) async throws {
        let books = try kind.makeBooks()
        func answers(_ actions: [Step.Action], at time: Int64) async throws -> [Answer] {
            let commands = actions.enumerated().map {
                Step(time: time, action: $1).command(number: Int(time) + $0)
            }
            return try await books.open().commit(touching: Footprint(commands)) {
                apply(commands, to: $0)
            }.answers
        }
        let before: [Step.Action] = [
            .open(user: 0), .open(user: 1),
            .create(session: 0, payee: 0, amount: 5, seconds: 300, proposesTaken: false),
            .lock(session: 0, user: 1),
        ]
        _ = try await answers(before, at: 1_000)
        let sends = (0..<2).map {
            Step.Action.send(session: 0, user: 1, key: $0, expected: nil)
        }
        let first = try await answers(sends, at: 2_000).map(\.send)
        #expect(first.map { $0?.isReplay } == [false, false])
        #expect(first[1]?.send.outcome == .declined(Refusal(.sessionPaid)))
        for time in [3_000, 1_000_000] as [Int64] {
            let again = try await answers(sends.reversed(), at: time).map(\.send)
            #expect(again.map { $0?.send } == [first[1]?.send, first[0]?.send])
            #expect(again.map { $0?.isReplay } == [true, true])
        }
        let statement = try await books.open().statement(of: Cast.users[1], entries: 9)
        #expect(statement?.entries.map(\.amount.minorUnits) == [-5, 10])
        #expect(try books.audit().isClean)
    }

    @Test(
        "transfers and entries can be neither changed nor removed",
        arguments: [
            "UPDATE transfers SET amount = 1", "DELETE FROM transfers",
            "UPDATE entries SET amount = 1", "DELETE FROM entries",
        ],
        StoreKind.allCases
    )
    func insertOnly(sql: String, kind: StoreKind) async throws {
        let books = try await Planted.books(kind)
        let error = #expect(throws: (any Error).self) { try books.execute(sql) }
        #expect("\(error as Any)".contains("are only ever inserted"))
        #expect(try books.audit().isClean)
    }

    @Test(
        "names with quotes, backslashes and control characters are found again",
        arguments: StoreKind.allCases
    )
    func awkwardNames(kind: StoreKind) async throws {
        let books = try kind.makeBooks()
        let store = try books.open()
        let names = ["a\"b", "a\\b", "a'b", "ä€😀", "a]b", "a}b", "NULL", "a\u{1}b"]
        for name in names {
            let open = OpenWallet(
                email: name,
                displayName: name,
                opening: Money(minorUnits: 0)
            )
            let command = Command(acceptedAt: .now, action: .openWallet(open))
            for isNew in [true, false] {
                let decision = try await store.commit(touching: Footprint([command])) {
                    apply([command], to: $0)
                }
                #expect(decision.effects.newUsers.isEmpty == !isNew, "\(name)")
            }
        }
        #expect(try books.audit().isClean)
    }

    @Test("what runs out is found, the longest due first", arguments: StoreKind.allCases)
    func due(kind: StoreKind) async throws {
        let books = try await Planted.books(kind)
        let store = try books.open()
        let second = Cast.sessions[1]
        #expect(try await store.due(at: Timestamp(milliseconds: 60_999), limit: 9).isEmpty)
        #expect(try await store.due(at: Timestamp(milliseconds: 61_000), limit: 9) == [second])
        #expect(try books.audit().isClean)
    }

    @Test("a wallet's newest entries come first", arguments: StoreKind.allCases)
    func statement(kind: StoreKind) async throws {
        let books = try await Planted.books(kind)
        let store = try books.open()
        let statement = try await store.statement(of: Cast.users[1], entries: 9)
        #expect(statement?.wallet.balance == 7)
        #expect(statement?.entries.map(\.amount.minorUnits) == [2, -5, 10])
        let newest = try await store.statement(of: Cast.users[1], entries: 1)
        #expect(newest?.entries.map(\.kind) == [.refund])
        #expect(try await store.statement(of: Cast.users[2], entries: 9) == nil)
        #expect(try books.audit().isClean)
    }

    @Test("what an EID stands for is found with its payee's name", arguments: StoreKind.allCases)
    func published(kind: StoreKind) async throws {
        let books = try await Planted.books(kind)
        let store = try books.open()
        let published = try await store.published(Cast.eids[0])
        #expect(published?.payeeName == "user0")
        #expect(published?.session.id == Cast.sessions[0])
        #expect(try await store.published(Cast.eids[3]) == nil)
        #expect(try books.audit().isClean)
    }

    @Test(
        "a session is found under its present EID, and under a retired one until its time",
        arguments: StoreKind.allCases
    )
    func retiredEID(kind: StoreKind) async throws {
        let books = try await Planted.books(kind)
        let store = try books.open()
        let step = Step(time: 1_000, action: .rotate(session: 1, user: 0, eid: 7, replaces: 1))
        let command = step.command(number: 50)
        _ = try await store.commit(touching: Footprint([command])) { apply([command], to: $0) }
        let present = try await store.published(Cast.eids[7])
        #expect(present?.session.id == Cast.sessions[1])
        #expect(present?.resolves(at: Timestamp(milliseconds: .max)) == true)
        let retired = try await store.published(Cast.eids[1])
        #expect(retired?.session == present?.session)
        #expect(retired?.resolves(at: Timestamp(milliseconds: 60_999)) == true)
        #expect(retired?.resolves(at: Timestamp(milliseconds: 61_000)) == false)
        #expect(try await store.published(Cast.eids[8]) == nil)
        #expect(try books.audit().isClean)
    }

    @Test(
        "a history knows what was paid and refunded, and of whom there is none",
        arguments: StoreKind.allCases
    )
    func history(kind: StoreKind) async throws {
        let books = try await Planted.books(kind)
        let store = try books.open()
        let range = WalletHistory.Range(.newest(skipping: 0), limit: 10)
        let history = try await store.history(of: Cast.users[0], in: .usd, range)
        #expect(history?.entries.map(\.kind) == [.refund, .payment, .developmentOpening])
        #expect(history?.entries.map(\.amount.minorUnits) == [-2, 5, 10])
        let session: SessionID? = Cast.sessions[0]
        #expect(history?.entries.map(\.session) == [session, session, nil])
        #expect(history?.openedAt == Timestamp(milliseconds: 1_000))
        for (start, numbers) in [
            (WalletHistory.Range.Start.newest(skipping: 1), [2, 1]), (.after(2), [1]),
            (.after(1), []), (.newest(skipping: 3), []),
        ] as [(WalletHistory.Range.Start, [Int64])] {
            let page = try await store.history(
                of: Cast.users[0],
                in: .usd,
                WalletHistory.Range(start, limit: 2)
            )
            #expect(page?.entries.map(\.number) == numbers, "\(start)")
        }
        #expect(try await store.history(of: Cast.users[2], in: .usd, range) == nil)
        #expect(try await store.history(of: Cast.users[0], in: .eur, range) == nil)
        #expect(try books.audit().isClean)
    }
}

extension Footprint {
    fileprivate init(refunding key: SendKey) {
        self.init()
        refundKeys = [key]
    }
}
