import Foundation
import PostgresTestSupport
import TestSupport
import Testing

/// Tests of several servers on a Citus cluster: a coordinator and two workers.
@Suite(
    "Servers on a cluster",
    .enabled(if: CitusCluster.isInstalled, "\(CitusCluster.absence)")
)
struct DistributedTests {
    @Test("Servers on a Citus cluster that are killed under load lose and duplicate no payments")
    func serversKilled() async throws {
        let url = try DatabaseKind.makeDistributed()
        let fleet = try await Fleet(2, database: url, opening: PaidHistory.opening)
        let database = CheckedDatabase.postgresql(url)
        try await PaidHistory.check("On a cluster", on: fleet, database) { tally, seeded in
            for _ in 0..<2 {
                try await tally.waitForPayments(15)
                try await fleet.kill(Int.random(in: 0..<2, using: &seeded))
            }
        }
        #expect(try await fleet.stop() == [0, 0])
    }

    @Test(
        "Servers recover by themselves after each worker and the coordinator are killed under load"
    )
    func nodesKilled() async throws {
        let cluster = try CitusCluster(settings: ["citus.recover_2pc_interval=1s"])
        let url = try DatabaseKind.makeDistributed(on: cluster)
        let fleet = try await Fleet(2, database: url, opening: PaidHistory.opening)
        let database = CheckedDatabase.postgresql(url)
        try await PaidHistory.check("Nodes killed", on: fleet, database) { tally, _ in
            for node in cluster.workers + [cluster.coordinator] {
                try await tally.waitForPayments(10)
                try node.killPostmaster()
                try node.start()
            }
            try await tally.waitForPayments(10)
        }
    }

    @Test("The migrate command distributes the tables once, and a second run changes nothing")
    func command() async throws {
        let folder = try TemporaryFolder()
        let file = try await ServerProcess.run(
            "migrate",
            "--distributed",
            "--database",
            "sqlite:\(folder.path)/books.db"
        )
        #expect(file.code == 64 && file.text.contains("Only the tables of a PostgreSQL"))
        let url = try CitusCluster.shared().makeDatabase()
        for isNew in [true, false] {
            let done = try await ServerProcess.run("migrate", "--distributed", "--database", url)
            #expect(done.code == 0, "\(done.text)")
            #expect(done.text.hasSuffix("They are distributed. Servers that keep rows: 2.\n"))
            #expect(done.text.contains("table=entries") == isNew)
        }
        let verified = try await ServerProcess.run("verify", "--database", url)
        #expect(verified.code == 0, "\(verified.text)")
    }
}
