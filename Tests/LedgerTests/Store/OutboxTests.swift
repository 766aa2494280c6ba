import GotchuCore
import LedgerTestSupport
import TestSupport
import Testing

@testable import Ledger

/// What waits to be told to merchants' systems.
@Suite("The outbox", .timeLimit(.minutes(hangLimit)))
struct OutboxTests {
    @Test(
        "an event waits for every endpoint that wants it, from its own commit on",
        arguments: StoreKind.allCases
    )
    func enqueue(kind: StoreKind) async throws {
        let outbox = try await Outbox(kind)
        try await outbox.add("all")
        try await outbox.add("own", payee: Cast.users[0])
        try await outbox.add("other", payee: Cast.users[1])
        try await outbox.commit(.refund(session: 0, user: 0, key: 2, amount: 1))
        #expect(try await outbox.store.dueWebhookEndpoints(at: at(1_999)) == [])
        #expect(try await outbox.store.dueWebhookEndpoints(at: at(2_000)) == ["all", "own"])
        let delivery = try #require(try await outbox.claim("own", at: 2_000).first)
        #expect(delivery.kind == .refunded && delivery.refund == 1 && delivery.refunded == 3)
        #expect(delivery.session.id == Cast.sessions[0] && delivery.session.refunded == 3)
        #expect(delivery.secret == Array("secret of own".utf8))
        #expect(delivery.giveUpAt == at(2_000 + 24 * 3_600_000))
        let counts = try await outbox.store.webhookEndpoints().map(\.pendingCount)
        #expect(counts.sorted() == [0, 1, 1])
        #expect(try await outbox.store.removeWebhookEndpoint("own"))
        #expect(try await !outbox.store.removeWebhookEndpoint("own"))
        #expect(
            try await outbox.store.webhookBacklog(dead: false, limit: 10).map(\.name.endpoint) == [
                "all"
            ]
        )
    }

    @Test(
        "what is claimed is nobody else's until its lease ends, and then due again",
        arguments: StoreKind.allCases
    )
    func lease(kind: StoreKind) async throws {
        let outbox = try await Outbox(kind)
        try await outbox.add("all")
        try await outbox.commit(
            .cancel(session: 1, user: 0),
            .rotate(session: 1, user: 0, eid: 5, replaces: 1)
        )
        try await outbox.commit(.unlock(session: 1, user: 1), .cancel(session: 1, user: 0))
        let first = try #require(try await outbox.claim("all", at: 3_000).first)
        #expect(first.kind == .cancelled && first.attempt == 1)
        #expect(try await outbox.claim("all", at: 3_000).isEmpty)
        #expect(try await outbox.claim("all", at: 62_999).isEmpty)
        let second = try #require(try await outbox.claim("all", at: 63_000).first)
        #expect(second.name == first.name && second.attempt == 2)
        // The first one comes back late: it has nothing to say any more.
        try await outbox.finish(
            first.name,
            attempt: first.attempt,
            .delivered,
            at: at(63_001)
        )
        #expect(try await outbox.store.webhookBacklog(dead: false, limit: 10).count == 1)
        try await outbox.finish(
            second.name,
            attempt: second.attempt,
            .delivered,
            at: at(63_002)
        )
        #expect(try await outbox.store.webhookBacklog(dead: false, limit: 10).isEmpty)
    }

    @Test(
        "what fails waits, what is given up stays until it is sent again",
        arguments: StoreKind.allCases
    )
    func deadLetters(kind: StoreKind) async throws {
        let outbox = try await Outbox(kind)
        try await outbox.add("all")
        try await outbox.commit(.refund(session: 0, user: 0, key: 2, amount: 1))
        let first = try #require(try await outbox.claim("all", at: 2_000).first)
        let failed = WebhookDelivery.Outcome.failed("HTTP 500.", nextTryAt: at(9_000))
        try await outbox.finish(first.name, attempt: 1, failed, at: at(2_001))
        #expect(try await outbox.claim("all", at: 8_999).isEmpty)
        let second = try #require(try await outbox.claim("all", at: 9_000).first)
        try await outbox.finish(second.name, attempt: 2, .dead("HTTP 500."), at: at(9_001))
        #expect(try await outbox.claim("all", at: .max / 2).isEmpty)
        let dead = try await outbox.store.webhookBacklog(dead: true, limit: 10)
        #expect(dead.map(\.error) == ["HTTP 500."] && dead.map(\.attempts) == [2])
        #expect(try await outbox.store.resendWebhooks(event: "evt_other", at: at(10_000)) == 0)
        #expect(try await outbox.store.resendWebhooks(event: first.name.event, at: at(10_000)) == 1)
        #expect(try await outbox.claim("all", at: 10_000).first?.name == first.name)
    }

    @Test(
        "the day for which an event is tried begins with its first try",
        arguments: StoreKind.allCases
    )
    func patience(kind: StoreKind) async throws {
        let outbox = try await Outbox(kind)
        try await outbox.add("all")
        try await outbox.commit(.refund(session: 0, user: 0, key: 2, amount: 1))
        let day: Int64 = 24 * 3_600_000
        let first = try #require(try await outbox.claim("all", at: 3 * day).first)
        #expect(first.giveUpAt == at(4 * day))
        let second = try #require(try await outbox.claim("all", at: 3 * day + 60_000).first)
        #expect(second.attempt == 2 && second.giveUpAt == at(4 * day))
    }

    @Test(
        "Tries that never end are made less and less often, and not after the event's day",
        arguments: StoreKind.allCases
    )
    func unended(kind: StoreKind) async throws {
        let outbox = try await Outbox(kind)
        try await outbox.add("all")
        try await outbox.commit(.refund(session: 0, user: 0, key: 2, amount: 1))
        var now: Int64 = 2_000
        var waits: [Int64] = []
        var attempts: Int64 = 0
        while attempts < 60 {
            let delivery = try #require(try await outbox.claim("all", at: now).first)
            attempts += 1
            #expect(delivery.attempt == attempts)
            if delivery.isOver {
                #expect(now >= 2_000 + 24 * 3_600_000)
                break
            }
            let waiting = try await outbox.store.webhookBacklog(dead: false, limit: 1)
            let next = try #require(waiting.first).nextTryAt.milliseconds
            #expect(try await outbox.claim("all", at: next - 1).isEmpty)
            waits.append((next - now) / 60_000)
            now = next
        }
        #expect(waits.prefix(7) == [1, 3, 5, 9, 17, 33, 61], "\(waits)")
        #expect((20...40).contains(attempts), "\(attempts)")
    }

    @Test(
        "what became of several tries is written down together",
        arguments: StoreKind.allCases
    )
    func together(kind: StoreKind) async throws {
        let outbox = try await Outbox(kind)
        for id in ["a", "b", "c"] { try await outbox.add(id) }
        try await outbox.commit(.refund(session: 0, user: 0, key: 2, amount: 1))
        var tries: [WebhookDelivery.Ended] = []
        let outcomes: [WebhookDelivery.Outcome] = [
            .delivered, .dead("HTTP 500."), .gone("HTTP 410."),
        ]
        for (id, outcome) in zip(["c", "b", "a"], outcomes) {
            let claimed = try #require(try await outbox.claim(id, at: 2_000).first)
            tries.append(.init(name: claimed.name, attempt: claimed.attempt, outcome: outcome))
        }
        try await outbox.store.finish(tries, at: at(2_001))
        #expect(try await outbox.store.webhookBacklog(dead: false, limit: 9).isEmpty)
        let dead = try await outbox.store.webhookBacklog(dead: true, limit: 9)
        #expect(dead.map(\.error) == ["HTTP 410.", "HTTP 500."])
    }

    @Test(
        "an endpoint that is gone gets nothing more until somebody wants it to",
        arguments: StoreKind.allCases
    )
    func gone(kind: StoreKind) async throws {
        let outbox = try await Outbox(kind)
        try await outbox.add("all")
        try await outbox.commit(.refund(session: 0, user: 0, key: 2, amount: 1))
        let first = try #require(try await outbox.claim("all", at: 2_000).first)
        try await outbox.finish(first.name, attempt: 1, .gone("HTTP 410."), at: at(2_001))
        try await outbox.commit(.unlock(session: 1, user: 1), .cancel(session: 1, user: 0))
        #expect(try await outbox.store.webhookEndpoints().map(\.disabled) == ["HTTP 410."])
        #expect(try await outbox.store.dueWebhookEndpoints(at: at(.max / 2)) == [])
        #expect(try await outbox.store.resendWebhooks(event: nil, at: at(3_000)) == 1)
        #expect(try await outbox.store.webhookEndpoints().map(\.disabled) == [nil])
        #expect(try await outbox.store.dueWebhookEndpoints(at: at(3_000)) == ["all"])
    }

    @Test(
        "An endpoint whose removal was cut short is not taken up again, and can still be removed",
        arguments: StoreKind.allCases
    )
    func removal(kind: StoreKind) async throws {
        let outbox = try await Outbox(kind)
        try await outbox.add("all")
        try await outbox.commit(.refund(session: 0, user: 0, key: 2, amount: 1))
        let first = try #require(try await outbox.claim("all", at: 2_000).first)
        try await outbox.finish(first.name, attempt: 1, .dead("HTTP 500."), at: at(2_001))
        try await outbox.commit(.unlock(session: 1, user: 1), .cancel(session: 1, user: 0))
        let second = try #require(try await outbox.claim("all", at: 2_000).first)
        try await outbox.beginRemoval("all")
        // A try that was under way ends in whatever way it likes.
        try await outbox.finish(second.name, attempt: 1, .gone("HTTP 410."), at: at(2_002))
        #expect(try await outbox.store.resendWebhooks(event: nil, at: at(3_000)) == 0)
        let event = first.name.event
        #expect(try await outbox.store.resendWebhooks(event: event, at: at(3_000)) == 0)
        #expect(try await outbox.store.webhookEndpoints().map(\.isBeingRemoved) == [true])
        #expect(try await outbox.store.dueWebhookEndpoints(at: at(.max / 2)) == [])
        #expect(try await outbox.store.removeWebhookEndpoint("all"))
        #expect(try await outbox.store.webhookEndpoints().isEmpty)
        #expect(try await outbox.store.webhookBacklog(dead: true, limit: 9).isEmpty)
    }

    @Test(
        "there are only so many endpoints, and none of a payee who is not in the books",
        arguments: StoreKind.allCases
    )
    func limits(kind: StoreKind) async throws {
        let outbox = try await Outbox(kind)
        let stranger = await #expect(throws: LedgerError.self) {
            try await outbox.add("x", payee: UserID(trusted: "nobody"))
        }
        #expect(stranger?.code == .rejected)
        for number in 0..<WebhookEndpoint.limit { try await outbox.add("endpoint-\(number)") }
        let many = await #expect(throws: LedgerError.self) { try await outbox.add("one-more") }
        #expect(many?.code == .rejected)
    }
}

private func at(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }

/// Small true books of one kind, and their outbox.
private struct Outbox {
    let books: TestBooks
    let store: any TestBooks.Store

    init(_ kind: StoreKind) async throws {
        books = try await Planted.books(kind)
        store = try books.open()
    }

    func add(_ id: String, payee: UserID? = nil) async throws {
        let endpoint = WebhookEndpoint(
            id: id,
            url: "https://shop.example/\(id)",
            payee: payee,
            createdAt: at(0)
        )
        try await store.add(endpoint, secret: Array("secret of \(id)".utf8))
    }

    /// Begins a removal and goes no further, like a command that is killed.
    func beginRemoval(_ id: String) async throws {
        let connected = try #require(store as? any ConnectedStore)
        let writer: any SideWriter = try connected.sideWriter
        #expect(try await writer.beginRemovalOfWebhookEndpoint(id))
    }

    func commit(_ actions: Step.Action...) async throws {
        let commands = actions.enumerated().map {
            Step(time: 2_000, action: $1).command(number: 90 + $0)
        }
        _ = try await store.commit(touching: Footprint(commands)) { apply(commands, to: $0) }
    }

    func finish(
        _ name: WebhookDelivery.Name,
        attempt: Int64,
        _ outcome: WebhookDelivery.Outcome,
        at time: Timestamp
    ) async throws {
        let ended = WebhookDelivery.Ended(name: name, attempt: attempt, outcome: outcome)
        try await store.finish([ended], at: time)
    }

    func claim(_ endpoint: String, at time: Int64) async throws -> [WebhookDelivery] {
        try await store.claimDeliveries(
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
