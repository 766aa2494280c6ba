import Foundation
import GotchuCore
import Ledger
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

/// Tests of several servers on one PostgreSQL database, under faults.
@Suite("Servers that share a database")
struct SharedDatabaseTests {
    @Test("Servers that are killed in turn under load lose and duplicate no payments")
    func serversKilled() async throws {
        let cluster = try PostgresCluster.shared()
        let url = cluster.url(try cluster.makeDatabase())
        let fleet = try await Fleet(3, database: url, opening: PaidHistory.opening)
        let database = CheckedDatabase.postgresql(url)
        try await PaidHistory.check("Servers killed", on: fleet, database) { tally, seeded in
            for _ in 0..<4 {
                try await tally.waitForPayments(25)
                try await fleet.kill(Int.random(in: 0..<3, using: &seeded))
            }
        }
        #expect(try await fleet.stop() == [0, 0, 0])
    }

    @Test(
        "Servers under load recover by themselves from terminated connections and a killed database"
    )
    func databaseKilled() async throws {
        let cluster = try PostgresCluster()
        let name = try cluster.makeDatabase()
        let url = cluster.url(name)
        let fleet = try await Fleet(2, database: url, opening: PaidHistory.opening)
        let database = CheckedDatabase.postgresql(url)
        try await PaidHistory.check("Database killed", on: fleet, database) { tally, seeded in
            for _ in 0..<6 {
                try await tally.waitForPayments(20)
                switch Int.random(in: 0...2, using: &seeded) {
                case 0:
                    try cluster.killPostmaster()
                    try cluster.start()
                default:
                    try cluster.connect("postgres").connection.run([
                        Query(
                            """
                            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                            WHERE datname = $1 AND pid <> pg_backend_pid()
                            """,
                            [.text(name)]
                        )
                    ])
                }
            }
            try await tally.waitForPayments(20)
            try cluster.killPostmaster()
            try cluster.start()
        }
    }

    @Test(
        "Servers switch to a replica promoted under load, and it has every acknowledged payment"
    )
    func failover() async throws {
        let primary = try PostgresCluster()
        let name = try primary.makeDatabase()
        let replica = try PostgresCluster(replicaOf: primary)
        let link = try primary.connect("postgres")
        try await eventually("the replica follows") {
            try link.connection.query("SELECT count(*) FROM pg_stat_replication") {
                try $0.integer(0)
            } == [1] ? true : nil
        }
        // With synchronous replication, a payment is acknowledged once both databases have it.
        try link.connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try link.connection.execute("SELECT pg_reload_conf()")
        let fleet = try await Fleet(
            2,
            database: primary.url(name, or: replica),
            opening: PaidHistory.opening
        )
        try await PaidHistory.check(
            "A replica promoted",
            on: fleet,
            .postgresql(replica.url(name))
        ) { tally, _ in
            try await tally.waitForPayments(40)
            try primary.killPostmaster()
            try replica.promote()
        }
    }

    @Test(
        "A server frozen in the middle of a payment delays another server by less than four seconds"
    )
    func frozen() async throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        let url = cluster.url(name)
        let servers = [
            try await ServerProcess(database: url), try await ServerProcess(database: url),
        ]
        let payee = try await servers[0].wire.login("payee")
        var payers: [String] = []
        for number in 0..<8 {
            payers.append(try await servers[0].wire.login("payer-\(number)"))
        }
        let loads = payers.enumerated().map { number, payer in
            let wire = servers[0].wire
            // SAFETY: owned by this test, which cancels it at the end.
            return Task {
                let payee = try await wire.login("payee-\(number)")
                while !Task.isCancelled {
                    let sid = try await wire.lockedSession(payee, payer, cents: 1)
                    _ = try await wire.send(sid, by: payer, key: "load-\(sid)")
                }
            }
        }
        defer { for load in loads { load.cancel() } }
        let watch = try cluster.connect("postgres")
        try await eventually("a payment is caught between two statements") {
            servers[0].program.signal(SIGSTOP)
            let open = try watch.connection.query(
                """
                SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
                WHERE datname = '\(name)' AND state = 'idle in transaction'
                    AND relation IS NOT NULL AND mode = 'RowShareLock'
                """,
                read: { try $0.integer(0) }
            )
            if open.isEmpty { servers[0].program.signal(SIGCONT) }
            return open.isEmpty ? nil : true
        }
        for (number, payer) in payers.enumerated() {
            let start = ContinuousClock.now
            let sid = try await servers[1].wire.lockedSession(payee, payer, cents: 1)
            let key = "0123456789abcde\(number)"
            #expect(try await servers[1].wire.send(sid, by: payer, key: key).status == 200)
            #expect(ContinuousClock.now - start < .seconds(4) * patience)
        }
        servers[0].program.signal(SIGCONT)
        try await eventually("the frozen server is ready again") {
            try await servers[0].wire.get("/readyz").status == 200 ? true : nil
        }
        for load in loads { load.cancel() }
        #expect(try await servers[0].stop() == 0)
        #expect(try await servers[1].stop() == 0)
        let verified = try await ServerProcess.run("verify", "--database", url)
        #expect(verified.code == 0, "\(verified.text)")
    }

    @Test("A server whose clock is an hour fast serves sessions by the database's clock")
    func wrongClock() async throws {
        let cluster = try PostgresCluster.shared()
        let url = cluster.url(try cluster.makeDatabase())
        let right = try await ServerProcess(database: url)
        let folder = try TemporaryFolder()
        let library = try await Preload.library("Faults/faults.c", in: folder)
        let fast = try await ServerProcess(
            database: url,
            environment: ["LD_PRELOAD": library, "FAULT_CLOCK": folder.write("3600", to: "clock")]
        )
        let payee = try await right.wire.login("payee")
        let payer = try await right.wire.login("payer")
        let sid = try await right.wire.create(payee, cents: 7).string("sid")
        #expect(try await fast.wire.lock(sid, by: payer).status == 200)
        #expect(
            try await right.wire.get("/sessions/\(sid)", token: payee).string("status") == "LOCKED"
        )
        let key = "0123456789abcdef"
        #expect(try await fast.wire.send(sid, by: payer, key: key).status == 200)
        // A new session of the fast server does not last an hour longer.
        let made = try await fast.wire.create(payee, cents: 7).string("exp_at")
        let end = try #require(Timestamp(iso8601: made))
        #expect(Timestamp.now.duration(to: end) < .seconds(1_000))
        // The server detects the wrong clock and logs it.
        let ahead = try await fast.wire.metric("gotchu_server_clock_ahead_milliseconds")
        #expect(try #require(ahead) > 3_000_000)
        #expect(fast.program.text.contains("the database's counts"))
    }

    @Test("A payee's event stream at one server shows the changes that other servers make")
    func events() async throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        let fleet = try await Fleet(3, database: cluster.url(name))
        let wires = await fleet.wires
        let payee = try await wires[0].login("payee")
        // A token of one server is valid at the other servers.
        let payer = try await wires[1].login("payer")
        let sid = try await wires[1].create(payee, cents: 7).string("sid")
        var stream = try await EventStream(wires[0], sid, token: payee)
        #expect(try await stream.next()?.status == "ADVERTISING")
        _ = try await wires[1].lock(sid, by: payer)
        #expect(try await stream.next()?.status == "LOCKED")
        // The servers lose their connections, so the first server's listener can miss a change.
        try cluster.connect("postgres").connection.run([
            Query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1",
                [.text(name)]
            )
        ])
        try await eventually("the payment is made") {
            let sent = try await wires[2].send(sid, by: payer, key: "0123456789abcdef")
            return sent.status == 200 ? true : nil
        }
        #expect(try await stream.next()?.status == "PAID")
        #expect(try await stream.next() == nil)
    }

    @Test("The migrate and verify commands work on PostgreSQL, and no failed one prints a password")
    func commands() async throws {
        let cluster = try PostgresCluster.shared()
        let url = cluster.url(try cluster.makeDatabase())
        let early = try await ServerProcess.run("verify", "--database", url)
        #expect(early.code == 74 && early.text.contains("There are no books"), "\(early.text)")
        let migrated = try await ServerProcess.run("migrate", "--database", url)
        #expect(migrated.code == 0 && migrated.text.contains("version"), "\(migrated.text)")
        let verified = try await ServerProcess.run("verify", "--database", url)
        #expect(verified.code == 0, "\(verified.text)")
        #expect(verified.text.hasSuffix("The books are right.\n"))
        let backup = try await ServerProcess.run("backup", "/nowhere/x", "--database", url)
        #expect(backup.code == 64 && backup.text.contains("pg_dump"), "\(backup.text)")
        for bad in ["postgres://u:sesame@127.0.0.1:1/x", "postgres://u:se@same@127.0.0.1:1/x"] {
            for command in ["verify", "migrate", "serve"] {
                let ended = try await ServerProcess.run(command, "--database", bad)
                #expect(ended.code == 74, "\(ended.text)")
                #expect(!ended.text.contains("same"), "\(ended.text)")
            }
        }
    }
}
