import GotchuCore
import Ledger
import LedgerStore
import LedgerTestSupport
import Payments
import TestSupport
import Testing

/// The behaviour that every store must have, whatever its database.
@Suite("Every store")
struct StoreTests {
    @Test(
        "Random commands have the same effects in a store as in memory, also after a restart",
        arguments: StoreKind.all
    )
    func stories(kind: StoreKind) async throws {
        var teller = StoryTeller(seed: runSeed)
        // Fewer stories run on a cluster, because it is slow.
        for number in 0..<(kind == .distributed ? 3 : 40) {
            let database = try kind.makeDatabase()
            var memory = MemoryBooks()
            var store = try database.open()
            let story = (0..<2).map { Step(time: 0, action: .open(user: $0)) } + teller.story()
            for (index, step) in story.enumerated() {
                let chain = "chain-\(100 + index)"
                let expected = step.submission(number: index)
                let effects = try memory.commit(Batch([expected], chain: chain))
                let done = try await store.commit([step], first: index, chain: chain)
                let isSame = done.effects == effects && done.answers == [expected.answer]
                #expect(isSame, "seed \(runSeed), story \(number), step \(index): \(story)")
                if index == story.count / 2 { store = try database.open() }
            }
            try await store.expectSame(as: memory.rows)
            let audit = try database.audit()
            #expect(audit.isClean, "seed \(runSeed), story \(number): \(audit.findings)")
        }
    }

    @Test(
        "One of two simultaneous payments of a session succeeds, and both keys keep their answers",
        arguments: StoreKind.all
    )
    func twoKeysAtOnce(kind: StoreKind) async throws {
        let database = try kind.makeDatabase()
        func answers(_ actions: [Step.Action], at time: Int64) async throws -> [StepAnswer?] {
            let steps = actions.map { Step(time: time, action: $0) }
            return try await database.open().commit(steps, first: Int(time)).answers
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
        let first = try await answers(sends, at: 2_000)
        #expect(first.map { $0?.isReplay } == [false, false])
        #expect(first.map { $0?.refusal } == [nil, Refusal(.sessionPaid)])
        for time in [3_000, 1_000_000] as [Int64] {
            let again = try await answers(sends.reversed(), at: time)
            #expect(again.map { $0?.outcome } == [first[1]?.outcome, first[0]?.outcome])
            #expect(again.map { $0?.requestID } == [first[1]?.requestID, first[0]?.requestID])
            #expect(again.map { $0?.isReplay } == [true, true])
        }
        let account = try await database.open().account(of: Cast.users[1], entries: 9)
        #expect(account?.entries.map(\.entry.amount) == [-5, 10])
        #expect(try database.audit().isClean)
    }

    @Test(
        "Transfers, entries, children, answers and seals can be neither changed nor removed",
        arguments: StoreKind.all
    )
    func insertOnly(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        try await database.open().commitOne(OpenBox(children: 2))
        for (table, column) in [
            ("transfers", "at"), ("entries", "amount"), ("children", "number"),
            ("answers", "decided_at"), ("seals", "number"),
        ] {
            for sql in ["UPDATE \(table) SET \(column) = 9", "DELETE FROM \(table)"] {
                let error = #expect(throws: (any Error).self) { try database.execute(sql) }
                #expect("\(error as Any)".contains("\(table) are only ever inserted"), "\(sql)")
            }
        }
        #expect(try database.audit().isClean)
    }

    @Test(
        "Names with quotes, backslashes and control characters are found again",
        arguments: StoreKind.all
    )
    func awkwardNames(kind: StoreKind) async throws {
        let database = try kind.makeDatabase()
        let store = try database.open()
        let names = ["a\"b", "a\\b", "a'b", "ä€😀", "a]b", "a}b", "NULL", "a\u{1}b"]
        for name in names {
            let open = OpenAccount(
                login: name,
                displayName: name,
                opening: Money(minorUnits: 0)
            )
            for isNew in [true, false] {
                let effects = try await store.commitOne(open)
                #expect(effects.newUsers.isEmpty == !isNew, "\(name)")
            }
        }
        #expect(try database.audit().isClean)
    }

    @Test(
        "A step of a record is posted once, even if a faulty command repeats it",
        arguments: StoreKind.all
    )
    func stepTwice(kind: StoreKind) async throws {
        struct Theft: LedgerCommand {
            static let name = "theft"

            func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
                footprint.owners.formUnion(Cast.users.map { .user($0) })
            }

            func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Bool {
                let lines = [(Cast.users[1], -1 as Int64), (Cast.users[0], 1)]
                try books.post(
                    .payment,
                    lines.map { (Account.Key(.user($0), .usd), $1) },
                    record: RecordID(Cast.sessions[0]),
                    step: "paid",
                    at: time
                )
                return true
            }
        }
        let database = try await SampleLedger.database(kind)
        let store = try database.open()
        let error = await #expect(throws: LedgerError.self) { try await store.commitOne(Theft()) }
        #expect(error?.code == .rejected)
        #expect(try await store.balance(of: Cast.users[1]) == 7)
        #expect(try database.audit().isClean)
    }

    @Test(
        "Due records are returned with the earliest due first",
        arguments: StoreKind.all
    )
    func due(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        let store = try database.open()
        let second = [DueRecord(id: RecordID(Cast.sessions[1]), kind: Session.kind)]
        let time = Timestamp(milliseconds: 61_000)
        let before = Timestamp(milliseconds: 60_999)
        #expect(try await store.due(at: before, excluding: [], skipping: 0, limit: 9).isEmpty)
        #expect(try await store.due(at: time, excluding: [], skipping: 0, limit: 9) == second)
        try await store.commit(
            .create(session: 2, payee: 0, amount: 5, seconds: 1, proposesTaken: false)
        )
        let both = try await store.due(at: time, excluding: [], skipping: 0, limit: 9)
        #expect(both.map(\.id.rawValue) == ["session-2", "session-1"])
        let first = try await store.due(at: time, excluding: [], skipping: 0, limit: 1)
        #expect(first == Array(both.prefix(1)))
        #expect(try await store.due(at: time, excluding: [], skipping: 1, limit: 9) == second)
        #expect(try database.audit().isClean)
    }

    @Test("An account's newest entries come first", arguments: StoreKind.all)
    func newest(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        let store = try database.open()
        let account = try await store.account(of: Cast.users[1], entries: 9)
        #expect(account?.account.balance == 7)
        #expect(account?.entries.map(\.entry.amount) == [2, -5, 10])
        #expect(account?.entries.map(\.entry.balance) == [7, 5, 10])
        let newest = try await store.account(of: Cast.users[1], entries: 1)
        #expect(newest?.entries.map(\.entry.kind) == [TransferKind.refund.name])
        #expect(try await store.account(of: Cast.users[2], entries: 9) == nil)
        #expect(try database.audit().isClean)
    }

    @Test("A record is read by its name together with its owner's name", arguments: StoreKind.all)
    func named(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        let store = try database.open()
        let found = try await store.record(named: Session.name(of: Cast.eids[0]))
        #expect(found?.ownerName == "user0" && found?.until == nil)
        #expect(found?.record.id == RecordID(Cast.sessions[0]))
        #expect(try await store.record(named: Session.name(of: Cast.eids[3])) == nil)
        // A user's login names no record.
        #expect(try await store.record(named: "login:user0@example.org") == nil)
        #expect(try database.audit().isClean)
    }

    @Test(
        "A session is found by its current EID and by a retired EID, whose expiry is returned too",
        arguments: StoreKind.all
    )
    func retiredEID(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        let store = try database.open()
        try await store.commit(.rotate(session: 1, user: 0, eid: 7, replaces: 1))
        let present = try await store.record(named: Session.name(of: Cast.eids[7]))
        #expect(present?.record.id == RecordID(Cast.sessions[1]) && present?.until == nil)
        let retired = try await store.record(named: Session.name(of: Cast.eids[1]))
        #expect(retired?.record == present?.record)
        #expect(retired?.until == Timestamp(milliseconds: 61_000))
        #expect(try await store.record(named: Session.name(of: Cast.eids[8])) == nil)
        #expect(try database.audit().isClean)
    }

    @Test(
        "A history lists payments and refunds, and an absent account has no history",
        arguments: StoreKind.all
    )
    func history(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        let store = try database.open()
        let history = try await store.account(of: Cast.users[0], entries: 10)
        #expect(history?.entries.map(\.entry.kind) == ["REFUND", "PAYMENT", "OPENING"])
        #expect(history?.entries.map(\.entry.amount) == [-2, 5, 10])
        #expect(history?.entries.map(\.entry.earned) == [3, 5, 0])
        #expect(history?.entries.map(\.entry.number) == [3, 2, 1])
        let steps = history?.entries.map(\.entry.transfer.step)
        #expect(steps == ["refund/2", "paid", "opening"])
        let session: RecordID? = RecordID(Cast.sessions[0])
        #expect(history?.entries.map(\.record?.id) == [session, session, nil])
        #expect(history?.entries.first?.record?.state == "PAID")
        #expect(history?.account.changedAt == Timestamp(milliseconds: 1_000))
        let key = Account.Key(.user(Cast.users[0]), .usd)
        for (start, numbers) in [
            (.newest(skipping: 1), [2, 1]), (.before(2), [1]), (.before(1), []),
            (.newest(skipping: 3), []), (.before(9), [3, 2]),
        ] as [(HistoryRange.Start, [Int64])] {
            let page = try await store.history(of: key, HistoryRange(start, limit: 2))
            #expect(page?.entries.map(\.entry.number) == numbers, "\(start)")
            #expect(page?.account.balance == 13)
        }
        let range = HistoryRange(.newest(skipping: 0), limit: 10)
        #expect(try await store.history(of: Account.Key(.user(Cast.users[2]), .usd), range) == nil)
        #expect(try await store.history(of: Account.Key(.user(Cast.users[0]), .eur), range) == nil)
        #expect(try database.audit().isClean)
    }

    @Test(
        "A ledger's use, development or production, follows from opening balances and logins",
        arguments: [("<https://issuer.example>7", LedgerUse.production), ("a@b", .neither)],
        StoreKind.all
    )
    func use(login: (name: String, use: LedgerUse), kind: StoreKind) async throws {
        let database = try kind.makeDatabase()
        let store = try database.open()
        #expect(try await store.use() == .neither)
        try await store.commitOne(
            OpenAccount(login: login.name, displayName: "a", opening: Money(minorUnits: 0))
        )
        #expect(try await store.use() == login.use)
        try await store.commit(.open(user: 0))
        #expect(try await store.use() == .development)
        #expect(try await store.reading() == StoreReading())
        #expect(try database.audit().isClean)
    }
}
