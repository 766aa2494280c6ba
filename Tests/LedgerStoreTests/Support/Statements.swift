import Devices
import GotchuCore
import LedgerTestSupport
import Payments
import Testing
import WebSessions

@testable import Ledger
@testable import LedgerStore
@testable import Outbox
@testable import Postgres

/// Every statement that a server runs on an engine, produced by the server's own code.
struct Statements {
    /// The texts of the statements.
    private(set) var texts: Set<String> = []
    let dialect: Dialect

    /// Collects the statements that load rows, with and without skipping locked rows, and the
    /// statements that write rows.
    init(_ dialect: Dialect) throws {
        self.dialect = dialect
        var memory = MemoryBooks()
        let batches: [[any Submission]] =
            Self.batches.map { actions in
                actions.map { Step(time: 1_000, action: $0).submission(number: 1).submission }
            } + Self.boxBatches + (try Self.fundingBatches)
        for submissions in batches {
            let batch = Batch(submissions)
            let loaded = memory.load(batch)
            let effects = batch.decide(on: loaded)
            let saving = Saving(effects, loaded: loaded)
            for write in try saving.writes() {
                if dialect == .sqlite { texts.insert(write.sqlite) }
                if dialect != .sqlite { add(write.queries(for: dialect).map(\.sql)) }
            }
            if dialect != .sqlite {
                add(PostgreSQLWriter.removal(of: saving.done, dialect).map(\.sql))
            }
            memory.save(effects)
        }
        for isPassingHeld in dialect == .sqlite ? [false] : [false, true] {
            let loading = Loading(
                footprint: Self.footprint,
                dialect: dialect,
                skipsLocked: isPassingHeld
            )
            for step in loading.steps { texts.insert(step.query(into: LoadedRows(Snapshot())).sql) }
        }
        texts.insert(Effects.probe)
    }

    mutating func add(_ more: some Sequence<String>) { texts.formUnion(more) }

    /// The batches that together write every kind of row, new and changed.
    private static let batches: [[Step.Action]] = [
        [.open(user: 0), .open(user: 1)],
        [.create(session: 0, payee: 0, amount: 5, seconds: 300, proposesTaken: false)],
        [.open(user: 2), .rotate(session: 0, user: 0, eid: 7, replaces: 0)],
        [.lock(session: 0, user: 1)], [.send(session: 0, user: 1, key: 0, expected: nil)],
        [.refund(session: 0, user: 0, key: 0, amount: 2)],
    ]

    /// The batches that write a record with a child, and a name that two users claim in turn.
    private static var boxBatches: [[any Submission]] {
        let commands: [any LedgerCommand] = [
            OpenBox(children: 1), ClaimName("place", for: "user-0", until: 2_000),
            ClaimName("place", for: "user-1", until: nil, at: 3_000),
        ]
        return commands.map { [pending($0)] }
    }

    /// The batches about deposits, withdrawals and payees.
    private static var fundingBatches: [[any Submission]] {
        get throws {
            try FundingStory.commands.enumerated().map { index, command in
                [try command(Timestamp(milliseconds: 1_000 * Int64(index + 1)))]
            }
        }
    }

    private static func pending(_ command: some LedgerCommand) -> any Submission {
        Pending(command, at: Timestamp(milliseconds: 1_000)) { _ in }
    }

    /// A footprint with every kind of row.
    private static var footprint: Footprint {
        var footprint = Footprint()
        footprint.names = ["a", "b"]
        footprint.users = Set(Cast.users)
        footprint.records = Set(Cast.sessions.map { RecordID($0) })
        footprint.ownedRecords = footprint.records
        footprint.children = [OpenBox.id(0), OpenBox.id(1)]
        footprint.owners = Set(Cast.users.map { .user($0) })
        footprint.dueGroups = Set(Cast.users.map(Cast.sessions(of:)))
        footprint.answers = Set(
            Cast.keys.map { Answer.Key(user: Cast.users[0], command: Pay.name, key: $0) }
        )
        footprint.needsNewestSeal = true
        return footprint
    }
}

extension Database {
    /// Runs every statement that a server uses besides the ledger's commits. Adds a device, an
    /// endpoint and a web session for this.
    func useEverything() async throws {
        let now = Timestamp(milliseconds: 1_000)
        _ = try await read(Reads.record(RecordID(Cast.sessions[0])))
        _ = try await read(Reads.record(named: "a"))
        _ = try await read(
            Reads.answer(Answer.Key(user: Cast.users[0], command: Pay.name, key: Cast.keys[0]))
        )
        _ = try await read(Reads.due(at: now, excluding: [], skipping: 0, limit: 10))
        let box = OpenBox.id(0)
        for owner in [Cast.users[0], nil] {
            _ = try await read(
                Reads.records(RecordPage(of: owner, kind: "box", before: box, limit: 9))
            )
        }
        _ = try await read(Reads.children(of: box, after: 0, limit: 9))
        _ = try await change(Reads.DueClaim(kind: "box", time: now, leaseEnd: now, limit: 9))
        _ = try await read(
            Reads.history(of: Cast.account(0), HistoryRange(.newest(skipping: 0), limit: 9))
        )
        let range = EarningsRange(marks: [now], counted: now..<now.advanced(by: .seconds(60)))
        _ = try await read(Reads.earnings(of: Cast.account(0), range))
        _ = try await read(LedgerUse.query)
        try await useDevices(at: now)
        try await useOutbox(at: now)
        try await useWebSessions(at: now)
    }

    private func useWebSessions(at now: Timestamp) async throws {
        let registry = WebSessionRegistry(self)
        let session = WebSession(
            id: [UInt8](repeating: 1, count: 32),
            user: Cast.users[0],
            userName: "ada",
            scopes: "payee",
            authenticatedAt: now,
            usedAt: now,
            expiresAt: now.advanced(by: WebSession.lifetime)
        )
        #expect(try await registry.begin(session))
        #expect(try await !registry.begin(session))
        let later = now.advanced(by: .seconds(90))
        #expect(try await registry.session(session.id, at: later) == session)
        try await registry.end(session.id, at: later)
        #expect(try await registry.session(session.id, at: later) == nil)
        // A session that has ended cannot begin again.
        #expect(try await !registry.begin(session))
    }

    private func useDevices(at now: Timestamp) async throws {
        let registry = DeviceRegistry(self)
        let secret = [UInt8](repeating: 1, count: 32)
        let device = Device(
            id: .make(),
            user: Cast.users[0],
            name: "till",
            scopes: "payee",
            createdAt: now,
            family: secret,
            current: secret,
            expiresAt: now
        )
        try await registry.add(device)
        _ = try await registry.device(device.id)
        _ = try await registry.devices(limit: 9)
        #expect(try await registry.devices(of: Cast.users[0]).contains { $0.id == device.id })
        #expect(try await registry.devices(of: Cast.users[1]).isEmpty)
        _ = try await registry.change(device.id) { $0.revoke(.byOperator, at: now) }
    }

    private func useOutbox(at now: Timestamp) async throws {
        let outbox = Outbox(self)
        let endpoint = WebhookEndpoint(id: "z", url: "", owner: Cast.users[0], createdAt: now)
        try await outbox.add(endpoint, secret: [1])
        _ = try await outbox.endpoints()
        #expect(try await outbox.endpoints(of: Cast.users[0]).map(\.id) == ["z"])
        #expect(try await outbox.endpoints(of: Cast.users[1]).isEmpty)
        #expect(try await !outbox.hasFailures(of: Cast.users[1]))
        for dead in [false, true] { _ = try await outbox.backlog(dead: dead, limit: 9) }
        _ = try await outbox.dueEndpoints(at: now)
        _ = try await outbox.claim(for: "z", at: now, until: now, limit: 9)
        let id = WebhookDelivery.ID(endpoint: "z", event: "e")
        let outcomes: [WebhookDelivery.Outcome] = [
            .delivered, .failed("", nextTryAt: now), .gone(""),
        ]
        for outcome in outcomes {
            try await outbox.finish([.init(id: id, attempt: 1, outcome: outcome)], at: now)
        }
        try await outbox.markDead(at: now)
        _ = try await outbox.resend(event: nil, at: now)
        _ = try await outbox.resend(event: "e", at: now)
        _ = try await outbox.remove("z")
    }
}
