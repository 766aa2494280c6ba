import Foundation
import Ledger
import LedgerStore
import Logging
import PostgresTestSupport
import TestSupport
import Testing

@testable import GotchuServer

/// Tests with a database that does not answer but keeps its connections, as when its machine or
/// its disk hangs.
@Suite("A database that hangs")
struct HungDatabaseTests {
    private let cluster: PostgresCluster
    private let url: String
    private let server: ServerProcess
    private let payee: String
    private let payer: String

    init() async throws {
        cluster = try PostgresCluster()
        url = cluster.url(try cluster.makeDatabase())
        server = try await ServerProcess(database: url)
        payee = try await server.wire.login("payee")
        payer = try await server.wire.login("payer")
    }

    /// Two servers use the database that hangs. One keeps running, and the other gets SIGTERM.
    @Test("A database that hangs delays calls and the server's exit for a limited time only")
    func calls() async throws {
        let sid = try await server.wire.lockedSession(payee, payer, cents: 5)
        let key = "0123456789abcdef"
        let ending = try await ServerProcess(database: url)
        let other = try await ending.wire.lockedSession(payee, payer, cents: 5)
        try cluster.freeze(true)
        async let unpaid = try? ending.wire.send(other, by: payer, key: "fedcba9876543210")
        #expect(try await ending.wire.get("/readyz").status == 503)
        ending.program.signal(SIGTERM)
        async let end = ending.program.exitCode(within: .seconds(40))
        async let read = server.wire.get("/wallet/me", token: payee)
        async let paid = server.wire.send(sid, by: payer, key: key)
        for _ in 0..<3 {
            let began = ContinuousClock.now
            #expect(try await server.wire.metric("gotchu_server_queue_commands") != nil)
            #expect(ContinuousClock.now - began < Duration.seconds(4) * patience)
        }
        #expect(try await server.wire.get("/readyz").status == 503)
        #expect(try await server.wire.get("/healthz").status == 200)
        let replies = try await [read, paid]
        #expect(replies.map(\.code) == ["TRY_AGAIN", "TRY_AGAIN"])
        #expect(try await end == 0)
        // The exit may close the connection before the reply.
        let reply = await unpaid
        #expect(reply == nil || reply?.code == "TRY_AGAIN", "\(reply?.text ?? "")")
        try cluster.freeze(false)
        try await eventually("the payment is made", within: .seconds(30)) {
            let reply = try await server.wire.send(sid, by: payer, key: key)
            return reply.status == 200 ? true : nil
        }
        // Reads use another connection, which may recover later than the writer's.
        let balance = try await eventually("the wallet is read", within: .seconds(30)) {
            try await server.wire.balance(payer)
        }
        #expect(balance == 9_995)
    }

    @Test(
        "No concurrent reader of metrics gets a value while the database hangs, and none waits long"
    )
    func readers() async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let store = try PostgreSQLStore(
            url: cluster.url(try cluster.makeDatabase()),
            logger: logger
        )
        let watch = StoreMetricsCache(store: store, period: .zero)
        let known = await watch.reading
        #expect(known != nil)
        try cluster.freeze(true)
        let began = ContinuousClock.now
        // While one reader waits for new metrics, the other readers must not get the old metrics.
        async let readings = [watch.reading, watch.reading]
        async let more = [watch.reading, watch.reading]
        let all = await readings + more
        #expect(all.allSatisfy { $0 == nil }, "\(all)")
        #expect(ContinuousClock.now - began < Duration.seconds(4) * patience)
        let next = ContinuousClock.now
        #expect(await watch.reading == nil)
        let limit = Duration.milliseconds(900) * patience
        #expect(ContinuousClock.now - next < limit, "the next reader waited too")
        try cluster.freeze(false)
        try await eventually("the store is read again", within: .seconds(60)) {
            await watch.reading == nil ? nil : true
        }
    }

    @Test("The expiry and the outbox log the loss of the database once, and then its return")
    func log() async throws {
        func count(_ sentence: String) -> Int { server.program.text.ranges(of: sentence).count }
        let failures = [
            "Expired records could not be recorded.", "The outbox cannot be read.",
        ]
        let recoveries = [
            "Expired records are recorded again.", "The outbox can be read again.",
        ]
        try cluster.killPostmaster()
        try await eventually("the expiry and the outbox have failed") {
            failures.allSatisfy { count($0) > 0 } ? true : nil
        }
        // Calls follow each other without a pause, and each message appears once a second or so.
        let sentences = ["A batch was not committed.", "The ledger failed."]
        let began = ContinuousClock.now
        let before = sentences.map(count)
        var calls = 0
        while ContinuousClock.now - began < .seconds(2) || calls < 50 {
            #expect([503, 429].contains(try await server.wire.create(payee, cents: 5).status))
            calls += 1
        }
        let after = sentences.map(count)
        // The time is read after the counts, so it is long enough even on a busy machine.
        let seconds = Int((ContinuousClock.now - began) / .seconds(1))
        #expect(failures.map(count) == [1, 1], "\(server.program.text)")
        for (number, sentence) in sentences.enumerated() {
            let new = after[number] - before[number]
            #expect((1...seconds + 2).contains(new), "\(sentence)")
        }
        try cluster.start()
        try await eventually("the expiry and the outbox work again") {
            recoveries.allSatisfy { count($0) > 0 } ? true : nil
        }
    }
}
