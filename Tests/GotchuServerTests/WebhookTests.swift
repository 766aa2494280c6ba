import Foundation
import GotchuCore
import Ledger
import Logging
import Outbox
import Postgres
import SQLite
import ServiceLifecycle
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of the delivery of events to a real receiver.
@Suite("Webhooks")
struct WebhookTests {
    @Test(
        "Two workers together send each event once, with a valid signature, if no attempt fails",
        arguments: DatabaseKind.all
    )
    func arrive(kind: DatabaseKind) async throws {
        let rig = try await WebhookRig(kind, "/ok", events: 12)
        let messages = try await rig.withWorkers(count: 2) {
            let messages = try await rig.receiver.wait(for: 12, at: "/ok")
            try await rig.waitUntilDelivered()
            return messages
        }
        #expect(messages.allSatisfy { $0.isVerified })
        #expect(Set(messages.compactMap(\.id)).count == 12)
        #expect(rig.receiver.messages("/ok").count == 12)
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

    @Test(
        "An endpoint that hangs or always fails does not delay another endpoint",
        arguments: DatabaseKind.single
    )
    func isolation(kind: DatabaseKind) async throws {
        let rig = try await WebhookRig(kind, "/slow", "/dead", "/ok", events: 20)
        try await rig.withWorkers {
            _ = try await rig.receiver.wait(for: 20, at: "/ok")
            _ = try await rig.receiver.wait(for: 1, at: "/slow")
            _ = try await rig.receiver.wait(for: 2, at: "/dead")
        }
        // The first attempt at the hanging endpoint lasts ten seconds, and has not ended yet.
        #expect(rig.receiver.messages("/slow").count == 1)
        let left = try await rig.outbox.backlog(dead: false, limit: 100)
        for path in ["/slow", "/dead"] {
            #expect(left.count { $0.id.endpoint == path } == 20, "\(path)")
        }
    }

    @Test(
        "The deliveries to an accepting endpoint follow each other at once, several at a time",
        arguments: DatabaseKind.single
    )
    func together(kind: DatabaseKind) async throws {
        let rig = try await WebhookRig(kind, "/together", events: 24)
        // The worker polls once; each later delivery starts when an earlier delivery ends. The
        // receiver answers the first eight at once, and then eight at a time when all have arrived.
        try await rig.withWorkers(interval: .seconds(3_600)) {
            _ = try await rig.receiver.wait(for: 24, at: "/together")
            try await rig.waitUntilDelivered()
        }
        #expect(rig.receiver.messages("/together").count == 24)
    }

    @Test(
        "A large backlog is sent in at most 16 calls at a time, and delays no other endpoint",
        arguments: DatabaseKind.single
    )
    func backlog(kind: DatabaseKind) async throws {
        let rig = try await WebhookRig(kind, "/mended", "/slow", "/ok", events: 300)
        let began = ContinuousClock.now
        let messages = try await rig.withWorkers {
            // The hanging endpoint gets one attempt at a time, and each attempt lasts ten seconds.
            _ = try await rig.receiver.wait(for: 300, at: "/ok")
            let tries = rig.receiver.messages("/slow").count
            let passed = Int((ContinuousClock.now - began) / .seconds(10))
            #expect((1...1 + passed).contains(tries), "\(tries) tries")
            let messages = try await rig.receiver.wait(for: 304, at: "/mended")
            try await eventually("only deliveries to the hanging endpoint are left") {
                let left = try await rig.outbox.backlog(dead: false, limit: 400)
                return left.allSatisfy { $0.id.endpoint == "/slow" } ? true : nil
            }
            return messages
        }
        #expect(Set(messages.dropFirst(4).map(\.id)).count == 300)
        #expect(messages.prefix(5).allSatisfy { $0.running == 1 })
        let most = messages.compactMap(\.running).max()
        // The machine's load determines how many simultaneous calls the receiver sees.
        let bound = DeliverySlots.limitPerEndpoint
        #expect((bound / 2...bound).contains(most ?? 0), "\(most ?? 0)")
    }

    @Test(
        "A refused delivery is sent again with the same bytes and id",
        arguments: DatabaseKind.single
    )
    func retry(kind: DatabaseKind) async throws {
        let rig = try await WebhookRig(kind, "/flaky", events: 1)
        let messages = try await rig.withWorkers {
            let messages = try await rig.receiver.wait(for: 3, at: "/flaky")
            try await rig.waitUntilDelivered()
            return messages
        }
        #expect(messages.count == 3 && messages.allSatisfy { $0.isVerified })
        #expect(Set(messages.map(\.id)).count == 1 && Set(messages.map(\.body)).count == 1)
    }

    @Test(
        "An attempt that a shutdown interrupts is due again when its lease ends",
        arguments: DatabaseKind.single
    )
    func cutShort(kind: DatabaseKind) async throws {
        let rig = try await WebhookRig(kind, "/slow", events: 1)
        try await rig.withWorkers { _ = try await rig.receiver.wait(for: 1, at: "/slow") }
        let waiting = try await rig.outbox.backlog(dead: false, limit: 9)
        #expect(waiting.map(\.id.endpoint) == ["/slow"])
        #expect(waiting.first?.error == "The attempt did not end.")
        #expect(try await rig.outbox.dueEndpoints(at: .now).isEmpty)
        let later = Timestamp.now.advanced(by: .seconds(61))
        #expect(try await rig.outbox.dueEndpoints(at: later) == ["/slow"])
        let again = try await rig.outbox.claim(
            for: "/slow",
            at: later,
            until: later.advanced(by: .seconds(60)),
            limit: 9
        )
        #expect(again.map(\.attempt) == [2] && again.first?.id == waiting.first?.id)
    }

    @Test(
        "An endpoint that answers 410 is not called again, and a redirect is not followed",
        arguments: DatabaseKind.single
    )
    func goneAndRedirect(kind: DatabaseKind) async throws {
        let rig = try await WebhookRig(kind, "/gone", "/redirect", events: 1)
        try await rig.withWorkers {
            _ = try await rig.receiver.wait(for: 2, at: "/redirect")
            try await eventually("the endpoint is disabled") {
                let endpoints = try await rig.outbox.endpoints()
                return endpoints.contains { $0.disabled?.hasPrefix("HTTP 410") == true }
                    ? true : nil
            }
            try await rig.makeEvents(1)
            _ = try await rig.receiver.wait(for: 4, at: "/redirect")
        }
        #expect(rig.receiver.messages("/gone").count == 1)
        #expect(rig.receiver.messages("/elsewhere").isEmpty)
        #expect(
            try await rig.outbox.backlog(dead: true, limit: 9).map(\.id.endpoint) == [
                "/gone"
            ]
        )
    }

    @Test(
        "A server outside development mode sends no webhook to any spelling of its own address",
        arguments: DatabaseKind.single
    )
    func privateTargets(kind: DatabaseKind) async throws {
        let rig = try await WebhookRig(kind)
        let hosts = [
            "LOCALHOST", "Localhost", "127.0.0.1", "127.1", "2130706433", "0x7F000001",
            "[::ffff:127.0.0.1]", "[::1]",
        ]
        for host in hosts {
            for scheme in ["http", "https"] {
                let endpoint = WebhookEndpoint(
                    id: "\(scheme) \(host)",
                    url: "\(scheme)://\(host):\(rig.receiver.port)/ok",
                    owner: nil,
                    createdAt: .now
                )
                try await rig.outbox.add(endpoint, secret: [1])
            }
        }
        try await rig.makeEvents(1)
        let errors = try await rig.withWorkers(isDevelopment: false) {
            try await eventually("all deliveries were attempted and refused") {
                let backlog = try await rig.outbox.backlog(dead: false, limit: 100)
                let errors = Set(backlog.map(\.error))
                // An attempt in progress already has an error, which stays if it never ends.
                return errors.isDisjoint(with: [nil, "The attempt did not end."]) ? errors : nil
            }
        }
        #expect(
            errors == [
                "Webhooks go over https only.", "The host is not on the open Internet.",
            ]
        )
        #expect(rig.receiver.messages("/ok").isEmpty)
    }

    @Test(
        "A backlog of more than one slice is given up, sent again and removed completely",
        arguments: DatabaseKind.single
    )
    func slices(kind: DatabaseKind) async throws {
        let count = WebhookSlices.events
        let rig = try await WebhookRig(kind, "/gone", events: count)
        let first = try #require(
            try await rig.outbox.claim(for: "/gone", at: .now, until: .now, limit: 1).first
        )
        let gone = WebhookDelivery.FinishedAttempt(
            id: first.id,
            attempt: 1,
            outcome: .gone("HTTP 410.")
        )
        try await rig.outbox.finish([gone], at: .now)
        #expect(try await rig.outbox.dueEndpoints(at: .now) == [])
        var looks = 0
        while try await rig.outbox.endpoints()[0].pendingCount > 0, looks < 10 {
            try await rig.outbox.markDead(at: .now)
            looks += 1
        }
        #expect(looks == 2)
        #expect(try await rig.outbox.endpoints()[0].deadCount == Int64(count))
        #expect(try await rig.outbox.resend(event: nil, at: .now) == count)
        #expect(try await rig.outbox.endpoints().map(\.disabled) == [nil])
        #expect(try await rig.outbox.remove("/gone"))
        #expect(try await rig.outbox.endpoints().isEmpty)
        #expect(try await rig.outbox.backlog(dead: false, limit: 1).isEmpty)
    }

    /// A number of events that needs two slices (`OutboxQueries.slice` is 500).
    private enum WebhookSlices { static let events = 700 }

    @Test(
        "An event gets a last attempt at the end of one day, and is then given up",
        arguments: DatabaseKind.single
    )
    func giveUp(kind: DatabaseKind) async throws {
        let rig = try await WebhookRig(kind, "/dead", events: 1)
        let claimed = try await rig.outbox.claim(
            for: "/dead",
            at: .now,
            until: .now,
            limit: 1
        )
        let delivery = try #require(claimed.first)
        let sender = WebhookSender(isDevelopment: true)
        let worker = WebhookWorker(store: rig.outbox, sender: sender, logger: rig.logger)
        let end = delivery.giveUpAt
        let answer = WebhookSender.Answer.refused("HTTP 500.", retryAfter: .seconds(60))
        #expect(worker.outcome(of: answer, for: delivery, at: end) == .dead("HTTP 500."))
        let last = WebhookDelivery.Outcome.failed("HTTP 500.", nextTryAt: end)
        let late = end.advanced(by: .seconds(-59))
        #expect(worker.outcome(of: answer, for: delivery, at: late) == last)
        // The last attempt is at the end of the day, even if the receiver asks for a longer delay.
        let start = end.advanced(by: .seconds(-24 * 3_600))
        let patient = WebhookSender.Answer.refused("HTTP 500.", retryAfter: .seconds(Int64.max))
        #expect(worker.outcome(of: patient, for: delivery, at: start) == last)
        let early = worker.outcome(of: answer, for: delivery, at: delivery.at)
        guard case .failed(_, let next) = early else {
            Issue.record("the event was given up after its first attempt: \(early)")
            return
        }
        #expect(delivery.at.duration(to: next) >= .seconds(60))
    }

    @Test(
        "The webhooks commands add, list and remove an endpoint, and the running server uses it",
        arguments: DatabaseKind.all
    )
    func commands(kind: DatabaseKind) async throws {
        let rig = try await WebhookRig(kind)
        let folder = try TemporaryFolder()
        let database = try kind.makeDatabase(in: folder).address
        let server = try await ServerProcess(folder: folder, database: database)
        let wire = server.wire
        let payee = try await wire.login("payee")
        let payer = try await wire.login("payer")
        let url = rig.receiver.url("/ok")
        let hidden = try await ServerProcess.run("webhooks", "add", url, "--database", database)
        #expect(hidden.code == 78 && hidden.text.contains("https only"))
        let added = try await ServerProcess.run(
            "webhooks",
            "add",
            url,
            "--dev",
            "--database",
            database
        )
        #expect(added.code == 0, "\(added.text)")
        let secret = try #require(added.text.firstMatch(of: /secret\t(whsec_\S+)\n/)?.output.1)
        let id = try #require(added.text.firstMatch(of: /endpoint\t(whe_\S+)\n/)?.output.1)
        try rig.receiver.setSecrets(["/ok": String(secret)])
        let more = #","allows_tip":true"#
        let sid = try await wire.create(payee, cents: 5, more: more).string("sid")
        _ = try await wire.lock(sid, by: payer)
        let key = "0123456789abcdef"
        _ = try await wire.send(sid, by: payer, key: key, more: #","tip_cents":2"#)
        let refund = "/sessions/\(sid)/refund"
        _ = try await wire.post(refund, #"{"amount_cents":6}"#, token: payee, key: key)
        let messages = try await rig.receiver.wait(for: 2, at: "/ok")
        #expect(messages.allSatisfy { $0.isVerified })
        let money = messages.compactMap { $0.body.map(Self.money) }
        #expect(
            Set(money) == [
                "session.paid: amount 5, refunded 0, tip 2",
                "session.refunded: amount 5, refund 6, refund_tip 1, refunded 6, tip 2",
            ]
        )
        let listed = try await ServerProcess.run("webhooks", "list", "--database", database)
        #expect(listed.text.contains(url) && !listed.text.contains(secret))
        for command in ["pending", "dead", "resend"] {
            let ended = try await ServerProcess.run("webhooks", command, "--database", database)
            #expect(ended.code == 0, "\(ended.text)")
        }
        try Self.cutRemovalShort(of: String(id), in: database)
        let cut = try await ServerProcess.run("webhooks", "list", "--database", database)
        #expect(cut.text.contains("being removed; if that was cut short, 'remove' it again"))
        let removed = try await ServerProcess.run(
            "webhooks",
            "remove",
            String(id),
            "--database",
            database
        )
        #expect(removed.code == 0)
        #expect(!server.program.text.contains(secret))
    }

    /// Returns the type and the amounts of a message.
    private static func money(_ body: String) -> String {
        let type = body.firstMatch(of: /"type":"([a-z.]+)"/)?.output.1 ?? ""
        let amounts = body.matches(of: /"([a-z_]+)_cents":([0-9]+)/)
        return "\(type): "
            + amounts.map { "\($0.output.1) \($0.output.2)" }.joined(separator: ", ")
    }

    /// Puts an endpoint into the state that an interrupted removal leaves.
    private static func cutRemovalShort(of id: String, in database: String) throws {
        let sql = """
            UPDATE endpoints SET disabled = 'It is being removed.' WHERE id = '\(id)'
            """
        switch try #require(DatabaseLocation(database)) {
        case .sqlite(let path):
            try SQLite.Connection(path: path, mode: .readWrite).execute(sql)
        case .postgres(let url):
            try Postgres.Connection(try ConnectionSettings(url: url)).execute(sql)
        }
    }
}
