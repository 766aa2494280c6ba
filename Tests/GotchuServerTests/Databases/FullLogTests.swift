import Foundation
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

/// Tests with a full disk of PostgreSQL's write-ahead log. PostgreSQL then exits. An operator has
/// to free space and start PostgreSQL again, and nothing else.
@Suite("A database whose log's disk is full")
struct FullLogTests {
    @Test(
        "A full log disk loses and duplicates no payments, and the servers recover by themselves",
        .enabled(if: geteuid() == 0, "only root can mount")
    )
    func fullLog() async throws {
        let cluster = try PostgresCluster(hasLogDisk: true)
        let disk = try #require(cluster.logDisk)
        let url = cluster.url(try cluster.makeDatabase())
        let fleet = try await Fleet(2, database: url, opening: PaidHistory.opening)
        let database = CheckedDatabase.postgresql(url)
        try await PaidHistory.check("A full log", on: fleet, database) { tally, _ in
            for _ in 0..<2 {
                try await tally.waitForPayments(10)
                disk.fill()
                try await eventually("PostgreSQL ends", within: .seconds(60)) {
                    // This fills the log faster than payments alone.
                    try? cluster.connect("postgres").connection.execute("SELECT pg_switch_wal()")
                    return cluster.isRunning ? nil : true
                }
                for wire in await fleet.wires {
                    try await eventually("a server is not ready") {
                        try await wire.get("/readyz").status == 503 ? true : nil
                    }
                    #expect(try await wire.get("/healthz").status == 200)
                }
                disk.free()
                try cluster.start()
                for wire in await fleet.wires {
                    try await eventually("a server is ready") {
                        try await wire.get("/readyz").status == 200 ? true : nil
                    }
                }
            }
        }
        #expect(cluster.text.contains("PANIC:  could not write to file"))
        #expect(try await fleet.stop() == [0, 0])
    }
}
