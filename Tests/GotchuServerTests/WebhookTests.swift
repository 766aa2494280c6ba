import Foundation
import GotchuCore
import Ledger
import Logging
import ServiceLifecycle
import TestSupport
import Testing

@testable import GotchuServer

/// Events on their way to a real receiver.
@Suite("Webhooks", .timeLimit(.minutes(5)))
struct WebhookTests {
    private let folder: TemporaryFolder
    private let store: SQLiteStore
    private let receiver: WebhookReceiver
    private let payee: UserID
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() async throws {
        folder = try TemporaryFolder()
        store = try SQLiteStore(path: folder.path + "/books.db")
        receiver = try await WebhookReceiver()
        let open = OpenWallet(email: "a", displayName: "a", opening: Money(minorUnits: 0))
        payee = open.user
        try await commit(.openWallet(open))
    }

    private func commit(_ action: Command.Action) async throws {
        let command = Command(acceptedAt: .now, action: action)
        _ = try await store.commit(touching: Footprint([command])) { apply([command], to: $0) }
    }

    /// Endpoints at these paths, each with a secret of its own.
    private func add(_ paths: String...) async throws {
        var secrets: [String: String] = [:]
        for path in paths {
            let secret = WebhookSecret.random()
            secrets[path] = secret.text
            let endpoint = WebhookEndpoint(
                id: path,
                url: receiver.url(path),
                payee: nil,
                createdAt: .now
            )
            try await store.add(endpoint, secret: secret.bytes)
        }
        try receiver.know(secrets)
    }

    /// Sessions that are cancelled, each of which is an event.
    private func happen(_ count: Int) async throws {
        for _ in 0..<count {
            let create = CreateSession(
                payee: payee,
                amount: Money(minorUnits: 5),
                memo: nil,
                reference: "order 7",
                lifetime: .seconds(300)
            )
            try await commit(.createSession(create))
            try await commit(.cancel(CancelSession(session: create.id, payee: payee)))
        }
    }

    @discardableResult
    private func working<Result: Sendable>(
        isDevelopment: Bool = true,
        workers: Int = 1,
        interval: Duration = .milliseconds(100),
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        let services = (0..<workers).map { _ in
            WebhookWorker(
                store: store,
                sender: WebhookSender(isDevelopment: isDevelopment),
                schedule: WebhookSchedule(firstDelay: .milliseconds(20)),
                interval: interval,
                logger: logger
            )
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: services, logger: logger)
        )
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let result = try await body()
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return result
        }
    }

    /// Returns once nothing waits any more.
    private func drained() async throws {
        try await eventually("nothing waits any more") {
            try await store.webhookBacklog(dead: false, limit: 1).isEmpty ? true : nil
        }
    }

    @Test("arrive signed, once where nothing fails, although two servers look for them")
    func arrive() async throws {
        try await add("/ok")
        try await happen(12)
        let messages = try await working(workers: 2) {
            let messages = try await receiver.wait(for: 12, at: "/ok")
            try await drained()
            return messages
        }
        #expect(messages.allSatisfy { $0.isVerified })
        #expect(Set(messages.compactMap(\.id)).count == 12)
        #expect(receiver.messages("/ok").count == 12)
        let body = try #require(messages[0].body)
        let members = try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
        #expect(members?["type"] as? String == "session.cancelled")
        let data = try #require(members?["data"] as? [String: Any])
        #expect(
            data.keys.sorted() == [
                "amount_cents", "currency", "payee_id", "payee_reference", "refunded_cents", "sid",
            ]
        )
    }

    @Test("an endpoint that hangs or always fails does not hold up another")
    func isolation() async throws {
        try await add("/slow", "/dead", "/ok")
        try await happen(20)
        try await working {
            _ = try await receiver.wait(for: 20, at: "/ok")
            _ = try await receiver.wait(for: 1, at: "/slow")
        }
        #expect(receiver.messages("/slow").count == 1)
    }

    @Test("follow one another at once, several at a time where they are accepted")
    func together() async throws {
        try await add("/together")
        try await happen(24)
        // It looks once; what comes after that is driven by what has arrived. The receiver answers
        // the first eight at once, and later ones only when eight are there together.
        try await working(interval: .seconds(3_600)) {
            _ = try await receiver.wait(for: 24, at: "/together")
            try await drained()
        }
        #expect(receiver.messages("/together").count == 24)
    }

    @Test("hundreds that have waited for a receiver come sixteen at a time, and cost no other")
    func backlog() async throws {
        try await add("/mended", "/slow", "/ok")
        try await happen(300)
        let began = ContinuousClock.now
        let messages = try await working {
            // One that fails is tried once in a while, however much waits for it.
            _ = try await receiver.wait(for: 300, at: "/ok")
            #expect(receiver.messages("/slow").count == 1)
            let messages = try await receiver.wait(for: 304, at: "/mended")
            try await eventually("only what hangs is left") {
                let left = try await store.webhookBacklog(dead: false, limit: 400)
                return left.allSatisfy { $0.name.endpoint == "/slow" } ? true : nil
            }
            return messages
        }
        #expect(Set(messages.dropFirst(4).map(\.id)).count == 300)
        #expect(messages.prefix(5).allSatisfy { $0.running == 1 })
        let most = messages.compactMap(\.running).max()
        #expect(most == WebhookPlaces.limitPerEndpoint)
        // One at a time they would take half a minute for what the receiver thinks alone.
        #expect(ContinuousClock.now - began < .seconds(25))
    }

    @Test("what is refused for now is sent again, the same bytes under the same name")
    func retry() async throws {
        try await add("/flaky")
        try await happen(1)
        let messages = try await working {
            let messages = try await receiver.wait(for: 3, at: "/flaky")
            try await drained()
            return messages
        }
        #expect(messages.count == 3 && messages.allSatisfy { $0.isVerified })
        #expect(Set(messages.map(\.id)).count == 1 && Set(messages.map(\.body)).count == 1)
    }

    @Test("a try that a stop cuts short is no failure; it is made again when its lease is over")
    func cutShort() async throws {
        try await add("/slow")
        try await happen(1)
        try await working { _ = try await receiver.wait(for: 1, at: "/slow") }
        let waiting = try await store.webhookBacklog(dead: false, limit: 9)
        #expect(waiting.map(\.name.endpoint) == ["/slow"] && waiting.first?.error == nil)
        #expect(try await store.dueWebhookEndpoints(at: .now).isEmpty)
        let later = Timestamp.now.advanced(by: .seconds(61))
        #expect(try await store.dueWebhookEndpoints(at: later) == ["/slow"])
        let again = try await store.claimDeliveries(
            for: "/slow",
            at: later,
            until: later.advanced(by: .seconds(60)),
            limit: 9
        )
        #expect(again.map(\.attempt) == [2] && again.first?.name == waiting.first?.name)
    }

    @Test("who says 410 is not asked again; a redirect is not followed")
    func goneAndRedirect() async throws {
        try await add("/gone", "/redirect")
        try await happen(1)
        try await working {
            _ = try await receiver.wait(for: 2, at: "/redirect")
            try await eventually("the endpoint is disabled") {
                let endpoints = try await store.webhookEndpoints()
                return endpoints.contains { $0.disabled?.hasPrefix("HTTP 410") == true }
                    ? true : nil
            }
            try await happen(1)
            _ = try await receiver.wait(for: 4, at: "/redirect")
        }
        #expect(receiver.messages("/gone").count == 1)
        #expect(receiver.messages("/elsewhere").isEmpty)
        #expect(
            try await store.webhookBacklog(dead: true, limit: 9).map(\.name.endpoint) == ["/gone"]
        )
    }

    @Test("without --dev nothing goes to this machine, however it is spelt")
    func privateTargets() async throws {
        let hosts = [
            "LOCALHOST", "Localhost", "127.0.0.1", "127.1", "2130706433", "0x7F000001",
            "[::ffff:127.0.0.1]", "[::1]",
        ]
        for host in hosts {
            for scheme in ["http", "https"] {
                let endpoint = WebhookEndpoint(
                    id: "\(scheme) \(host)",
                    url: "\(scheme)://\(host):\(receiver.port)/ok",
                    payee: nil,
                    createdAt: .now
                )
                try await store.add(endpoint, secret: [1])
            }
        }
        try await happen(1)
        try await working(isDevelopment: false) {
            try await eventually("all were tried and refused") {
                let backlog = try await store.webhookBacklog(dead: false, limit: 100)
                return backlog.allSatisfy { $0.error != nil } ? true : nil
            }
        }
        let errors = Set(try await store.webhookBacklog(dead: false, limit: 100).map(\.error))
        #expect(
            errors == [
                "Webhooks go over https only.", "The host is not on the open Internet.",
            ]
        )
        #expect(receiver.messages("/ok").isEmpty)
    }

    @Test("an event is given up after a day")
    func giveUp() async throws {
        try await add("/dead")
        try await happen(1)
        let claimed = try await store.claimDeliveries(
            for: "/dead",
            at: .now,
            until: .now,
            limit: 1
        )
        let delivery = try #require(claimed.first)
        let sender = WebhookSender(isDevelopment: true)
        let worker = WebhookWorker(store: store, sender: sender, logger: logger)
        let late = delivery.giveUpAt.advanced(by: .seconds(-60))
        let answer = WebhookSender.Answer.refused("HTTP 500.", retryAfter: .seconds(60))
        #expect(worker.outcome(of: answer, for: delivery, at: late) == .dead("HTTP 500."))
        let early = worker.outcome(of: answer, for: delivery, at: delivery.at)
        guard case .failed(_, let next) = early else {
            Issue.record("it was given up at once")
            return
        }
        #expect(delivery.at.duration(to: next) >= .seconds(60))
    }

    @Test("the commands manage endpoints of a running server, which then tells of a payment")
    func commands() async throws {
        let server = try await ServerProcess()
        let books = "sqlite:\(server.path)"
        let wire = server.wire
        let payee = try await wire.login("payee")
        let payer = try await wire.login("payer")
        let hidden = try await ServerProcess.run(
            "webhooks",
            "add",
            receiver.url("/ok"),
            "--database",
            books
        )
        #expect(hidden.code == 78 && hidden.text.contains("https only"))
        let added = try await ServerProcess.run(
            "webhooks",
            "add",
            receiver.url("/ok"),
            "--dev",
            "--database",
            books
        )
        #expect(added.code == 0, "\(added.text)")
        let secret = try #require(added.text.firstMatch(of: /secret\t(whsec_\S+)\n/)?.output.1)
        let id = try #require(added.text.firstMatch(of: /endpoint\t(whe_\S+)\n/)?.output.1)
        try receiver.know(["/ok": String(secret)])
        let sid = try await wire.lockedSession(payee, payer, cents: 5)
        _ = try await wire.send(sid, by: payer, key: "0123456789abcdef")
        _ = try await wire.post("/sessions/\(sid)/refund", token: payee, key: "0123456789abcdef")
        let messages = try await receiver.wait(for: 2, at: "/ok")
        #expect(messages.allSatisfy { $0.isVerified })
        let types = messages.compactMap { $0.body?.firstMatch(of: /"type":"([a-z.]+)"/)?.output.1 }
        #expect(Set(types) == ["session.paid", "session.refunded"])
        let listed = try await ServerProcess.run("webhooks", "list", "--database", books)
        #expect(listed.text.contains(receiver.url("/ok")) && !listed.text.contains(secret))
        for command in ["pending", "dead", "resend"] {
            let ended = try await ServerProcess.run("webhooks", command, "--database", books)
            #expect(ended.code == 0, "\(ended.text)")
        }
        let removed = try await ServerProcess.run(
            "webhooks",
            "remove",
            String(id),
            "--database",
            books
        )
        #expect(removed.code == 0)
        let typo = try await ServerProcess.run("webhooks", "list", "--database", books + "x")
        #expect(typo.code == 74 && typo.text.contains("There are no books"))
        #expect(!server.program.text.contains(secret))
    }
}
