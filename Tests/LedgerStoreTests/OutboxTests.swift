import GotchuCore
import Ledger
import LedgerStore
import LedgerTestSupport
import Payments
import TestSupport
import Testing

@testable import Outbox

/// The events that wait to be sent to merchants' systems.
@Suite("The outbox")
struct OutboxTests {
    @Test(
        "A commit queues its event for the endpoints of its owner and for those without an owner",
        arguments: StoreKind.all
    )
    func enqueue(kind: StoreKind) async throws {
        let rig = try await Rig(kind)
        try await rig.add("all")
        try await rig.add("own", owner: Cast.users[0])
        try await rig.add("other", owner: Cast.users[1])
        try await rig.commit(.refund(session: 0, user: 0, key: 2, amount: 1))
        #expect(try await rig.outbox.dueEndpoints(at: at(1_999)) == [])
        #expect(try await rig.outbox.dueEndpoints(at: at(2_000)) == ["all", "own"])
        let delivery = try #require(try await rig.claim("own", at: 2_000).first)
        #expect(delivery.kind == "session.refunded" && delivery.amount == 1)
        #expect(delivery.record == RecordID(Cast.sessions[0]) && delivery.owner == Cast.users[0])
        #expect(delivery.at == at(2_000))
        let record = try #require(try await rig.store.record(delivery.record))
        #expect(
            delivery.body == record.body && delivery.id.event == "evt_session-0_\(record.version)"
        )
        #expect(delivery.secret == Array("secret of own".utf8))
        #expect(delivery.giveUpAt == at(2_000 + 24 * 3_600_000))
        let counts = try await rig.outbox.endpoints().map(\.pendingCount)
        #expect(counts.sorted() == [0, 1, 1])
        #expect(try await rig.outbox.remove("own"))
        #expect(try await !rig.outbox.remove("own"))
        #expect(
            try await rig.outbox.backlog(dead: false, limit: 10).map(\.id.endpoint) == [
                "all"
            ]
        )
    }

    @Test(
        "A claimed delivery is leased, and due again when the lease ends",
        arguments: StoreKind.single
    )
    func lease(kind: StoreKind) async throws {
        let rig = try await Rig(kind)
        try await rig.add("all")
        try await rig.commit(
            .cancel(session: 1, user: 0),
            .rotate(session: 1, user: 0, eid: 5, replaces: 1)
        )
        try await rig.commit(.unlock(session: 1, user: 1), .cancel(session: 1, user: 0))
        let first = try #require(try await rig.claim("all", at: 3_000).first)
        #expect(first.kind == "session.cancelled" && first.attempt == 1)
        #expect(try await rig.claim("all", at: 3_000).isEmpty)
        #expect(try await rig.claim("all", at: 62_999).isEmpty)
        let second = try #require(try await rig.claim("all", at: 63_000).first)
        #expect(second.id == first.id && second.attempt == 2)
        // The late outcome of the first attempt is ignored.
        try await rig.finish(
            first.id,
            attempt: first.attempt,
            .delivered,
            at: at(63_001)
        )
        #expect(try await rig.outbox.backlog(dead: false, limit: 10).count == 1)
        try await rig.finish(
            second.id,
            attempt: second.attempt,
            .delivered,
            at: at(63_002)
        )
        #expect(try await rig.outbox.backlog(dead: false, limit: 10).isEmpty)
    }

    @Test(
        "A failed delivery waits for its next attempt, and a dead delivery until it is resent",
        arguments: StoreKind.single
    )
    func deadLetters(kind: StoreKind) async throws {
        let rig = try await Rig(kind)
        try await rig.add("all")
        try await rig.commit(.refund(session: 0, user: 0, key: 2, amount: 1))
        let first = try #require(try await rig.claim("all", at: 2_000).first)
        let failed = WebhookDelivery.Outcome.failed("HTTP 500.", nextTryAt: at(9_000))
        try await rig.finish(first.id, attempt: 1, failed, at: at(2_001))
        #expect(try await rig.claim("all", at: 8_999).isEmpty)
        let second = try #require(try await rig.claim("all", at: 9_000).first)
        try await rig.finish(second.id, attempt: 2, .dead("HTTP 500."), at: at(9_001))
        #expect(try await rig.claim("all", at: .max / 2).isEmpty)
        let dead = try await rig.outbox.backlog(dead: true, limit: 10)
        #expect(dead.map(\.error) == ["HTTP 500."] && dead.map(\.attempts) == [2])
        #expect(try await rig.outbox.resend(event: "evt_other", at: at(10_000)) == 0)
        #expect(try await rig.outbox.resend(event: first.id.event, at: at(10_000)) == 1)
        #expect(try await rig.claim("all", at: 10_000).first?.id == first.id)
    }

    @Test(
        "The 24 hours of a delivery's attempts begin with the first attempt",
        arguments: StoreKind.single
    )
    func patience(kind: StoreKind) async throws {
        let rig = try await Rig(kind)
        try await rig.add("all")
        try await rig.commit(.refund(session: 0, user: 0, key: 2, amount: 1))
        let day: Int64 = 24 * 3_600_000
        let first = try #require(try await rig.claim("all", at: 3 * day).first)
        #expect(first.giveUpAt == at(4 * day))
        let second = try #require(try await rig.claim("all", at: 3 * day + 60_000).first)
        #expect(second.attempt == 2 && second.giveUpAt == at(4 * day))
    }

    @Test(
        "Attempts without an outcome become less frequent, and end after 24 hours",
        arguments: StoreKind.single
    )
    func unended(kind: StoreKind) async throws {
        let rig = try await Rig(kind)
        try await rig.add("all")
        try await rig.commit(.refund(session: 0, user: 0, key: 2, amount: 1))
        var now: Int64 = 2_000
        var waits: [Int64] = []
        var attempts: Int64 = 0
        while attempts < 60 {
            let delivery = try #require(try await rig.claim("all", at: now).first)
            attempts += 1
            #expect(delivery.attempt == attempts)
            if delivery.isGivenUp {
                #expect(now >= 2_000 + 24 * 3_600_000)
                break
            }
            let waiting = try await rig.outbox.backlog(dead: false, limit: 1)
            let next = try #require(waiting.first).nextTryAt.milliseconds
            #expect(try await rig.claim("all", at: next - 1).isEmpty)
            waits.append((next - now) / 60_000)
            now = next
        }
        #expect(waits.prefix(7) == [1, 3, 5, 9, 17, 33, 61], "\(waits)")
        #expect((20...40).contains(attempts), "\(attempts)")
    }

    @Test(
        "The outcomes of several attempts are recorded together",
        arguments: StoreKind.single
    )
    func together(kind: StoreKind) async throws {
        let rig = try await Rig(kind)
        for id in ["a", "b", "c"] { try await rig.add(id) }
        try await rig.commit(.refund(session: 0, user: 0, key: 2, amount: 1))
        var tries: [WebhookDelivery.FinishedAttempt] = []
        let outcomes: [WebhookDelivery.Outcome] = [
            .delivered, .dead("HTTP 500."), .gone("HTTP 410."),
        ]
        for (id, outcome) in zip(["c", "b", "a"], outcomes) {
            let claimed = try #require(try await rig.claim(id, at: 2_000).first)
            tries.append(.init(id: claimed.id, attempt: claimed.attempt, outcome: outcome))
        }
        try await rig.outbox.finish(tries, at: at(2_001))
        #expect(try await rig.outbox.backlog(dead: false, limit: 9).isEmpty)
        let dead = try await rig.outbox.backlog(dead: true, limit: 9)
        #expect(dead.map(\.error) == ["HTTP 410.", "HTTP 500."])
        let disabled = try await rig.outbox.endpoints().filter { $0.disabled != nil }
        #expect(disabled.map(\.id) == ["a"] && disabled.map(\.disabled) == ["HTTP 410."])
    }

    @Test(
        "An endpoint that is gone gets no deliveries until its events are resent",
        arguments: StoreKind.single
    )
    func gone(kind: StoreKind) async throws {
        let rig = try await Rig(kind)
        try await rig.add("all")
        try await rig.commit(.refund(session: 0, user: 0, key: 2, amount: 1))
        let first = try #require(try await rig.claim("all", at: 2_000).first)
        try await rig.finish(first.id, attempt: 1, .gone("HTTP 410."), at: at(2_001))
        try await rig.commit(.unlock(session: 1, user: 1), .cancel(session: 1, user: 0))
        #expect(try await rig.outbox.endpoints().map(\.disabled) == ["HTTP 410."])
        #expect(try await rig.outbox.dueEndpoints(at: at(.max / 2)) == [])
        #expect(try await rig.outbox.resend(event: nil, at: at(3_000)) == 1)
        #expect(try await rig.outbox.endpoints().map(\.disabled) == [nil])
        #expect(try await rig.outbox.dueEndpoints(at: at(3_000)) == ["all"])
    }

    @Test(
        "An endpoint whose removal was interrupted stays disabled, and can be removed",
        arguments: StoreKind.all
    )
    func removal(kind: StoreKind) async throws {
        let rig = try await Rig(kind)
        try await rig.add("all")
        try await rig.commit(.refund(session: 0, user: 0, key: 2, amount: 1))
        let first = try #require(try await rig.claim("all", at: 2_000).first)
        try await rig.finish(first.id, attempt: 1, .dead("HTTP 500."), at: at(2_001))
        try await rig.commit(.unlock(session: 1, user: 1), .cancel(session: 1, user: 0))
        let second = try #require(try await rig.claim("all", at: 2_000).first)
        try await rig.beginRemoval("all")
        // An attempt in progress may still end with any outcome.
        try await rig.finish(second.id, attempt: 1, .gone("HTTP 410."), at: at(2_002))
        #expect(try await rig.outbox.resend(event: nil, at: at(3_000)) == 0)
        let event = first.id.event
        #expect(try await rig.outbox.resend(event: event, at: at(3_000)) == 0)
        #expect(try await rig.outbox.endpoints().map(\.isBeingRemoved) == [true])
        #expect(try await rig.outbox.dueEndpoints(at: at(.max / 2)) == [])
        #expect(try await rig.outbox.remove("all"))
        #expect(try await rig.outbox.endpoints().isEmpty)
        #expect(try await rig.outbox.backlog(dead: true, limit: 9).isEmpty)
    }

    @Test(
        "The number of endpoints is limited, and the owner of an endpoint must exist",
        arguments: StoreKind.single
    )
    func limits(kind: StoreKind) async throws {
        let rig = try await Rig(kind)
        let stranger = await #expect(throws: LedgerError.self) {
            try await rig.add("x", owner: UserID(trusted: "nobody"))
        }
        #expect(stranger?.code == .rejected)
        for number in 0..<WebhookEndpoint.limit { try await rig.add("endpoint-\(number)") }
        let many = await #expect(throws: LedgerError.self) { try await rig.add("one-more") }
        #expect(many?.code == .rejected)
    }
}

private func at(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }

/// A small valid ledger in one kind of store, and its outbox.
private struct Rig {
    private let database: TestDatabase
    let store: any Store
    let outbox: Outbox

    init(_ kind: StoreKind) async throws {
        database = try await SampleLedger.database(kind)
        store = try database.open()
        outbox = Outbox(store)
    }

    func add(_ id: String, owner: UserID? = nil) async throws {
        let endpoint = WebhookEndpoint(
            id: id,
            url: "https://shop.example/\(id)",
            owner: owner,
            createdAt: at(0)
        )
        try await outbox.add(endpoint, secret: Array("secret of \(id)".utf8))
    }

    /// Begins a removal without finishing it, like a killed command.
    func beginRemoval(_ id: String) async throws {
        struct Beginning: StoreQuery {
            let id: String

            func run<C: SQLConnection & ~Copyable>(on connection: borrowing C) throws -> Int {
                try connection.run(OutboxQueries.beginRemoval, [.text(id)])
            }
        }
        #expect(try await store.change(Beginning(id: id)) == 1)
    }

    func commit(_ actions: Step.Action...) async throws {
        try await store.commit(actions.map { Step(time: 2_000, action: $0) }, first: 90)
    }

    func finish(
        _ id: WebhookDelivery.ID,
        attempt: Int64,
        _ outcome: WebhookDelivery.Outcome,
        at time: Timestamp
    ) async throws {
        let ended = WebhookDelivery.FinishedAttempt(id: id, attempt: attempt, outcome: outcome)
        try await outbox.finish([ended], at: time)
    }

    func claim(_ endpoint: String, at time: Int64) async throws -> [WebhookDelivery] {
        try await outbox.claim(
            for: endpoint,
            at: moment(time),
            until: moment(time + 60_000),
            limit: 10
        )
    }

    private func moment(_ milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: milliseconds)
    }
}
