import Foundation
import PostgresTestSupport
import TestSupport
import Testing

/// Tests under load with a disk that is slow, is full or fails to sync. Some clients also
/// disconnect before the reply arrives.
@Suite("Databases whose disk fails")
struct DiskFaultTests {
    @Test("PostgreSQL under load survives a slow sync, a failed sync and a full disk")
    func postgresql() async throws {
        let cluster = try PostgresCluster(faultLibrary: try await Faults.libraryPath())
        let faults = try #require(cluster.faults)
        let url = cluster.url(try cluster.makeDatabase())
        let fleet = try await Fleet(2, database: url, opening: PaidHistory.opening)
        let database = CheckedDatabase.postgresql(url)
        try await PaidHistory.check("PostgreSQL's disk", on: fleet, database) { tally, _ in
            try await tally.waitForPayments(10)
            try faults.slowSync(milliseconds: 120)
            try await tally.waitForPayments(10)
            // After a failed sync, PostgreSQL does not know the content of the disk. It stops with
            // a panic and recovers by itself.
            try faults.failSync(of: "pg_wal")
            try await eventually("the sync fails") { faults.hasFailed ? true : nil }
            try await eventually("PostgreSQL panics") {
                cluster.text.contains("PANIC:  could not fdatasync file") ? true : nil
            }
            try await tally.waitForPayments(20)
            // On the full disk the tables cannot grow, but PostgreSQL keeps running.
            try faults.disk(.full, of: "/base/")
            try await eventually("the disk is full") {
                cluster.text.contains("No space left on device") ? true : nil
            }
            try faults.disk(nil)
            try await tally.waitForPayments(20)
        }
        #expect(try await fleet.stop() == [0, 0])
    }

    @Test(
        "SQLite under load survives slow and failed syncs, a full disk, and a kill after that"
    )
    func sqlite() async throws {
        let folder = try TemporaryFolder()
        let faults = try await Faults("server", in: folder.path)
        let database = CheckedDatabase.sqlite(folder.path + "/books.db")
        let fleet = try await Fleet(
            1,
            database: database.address,
            opening: PaidHistory.opening,
            environment: faults.environment
        )
        try await PaidHistory.check("SQLite's disk", on: fleet, database) { tally, _ in
            try await tally.waitForPayments(10)
            try faults.slowSync(milliseconds: 120)
            try await tally.waitForPayments(10)
            try faults.slowSync(milliseconds: nil)
            for _ in 0..<2 {
                // After a failed sync the server exits. The next server finds the commits that
                // were not synced.
                try faults.failSync(of: "books.db-wal")
                try await fleet.replaceExited(0)
                try await tally.waitForPayments(10)
            }
            for isKilled in [false, true] {
                let before = await fleet.failedBatches
                try faults.disk(.full)
                try await eventually("commits fail") {
                    await fleet.failedBatches > before ? true : nil
                }
                if isKilled {
                    try faults.disk(nil)
                    try await fleet.kill(0)
                }
                try faults.disk(nil)
                try await tally.waitForPayments(10)
            }
        }
        #expect(try await fleet.stop() == [0])
    }
}
