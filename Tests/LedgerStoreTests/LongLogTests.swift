import GotchuCore
import LedgerTestSupport
import SQLite
import TestSupport
import Testing

@testable import Ledger
@testable import LedgerStore

/// A write-ahead log of SQLite that exceeds its bound, because a reader still needs the log.
@Suite("A log that cannot be emptied")
struct LongLogTests {
    @Test("Payments do not wait for a long reader, an audit or a backup")
    func readers() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("books.db")
        let store = try SQLiteStore(path: path)
        let reader = try Connection(path: path, mode: .readOnly)
        try reader.execute("BEGIN; SELECT count(*) FROM users")
        try Self.fillLog(of: path)
        let service = Task { try await store.run() }  // SAFETY: cancelled and awaited below.
        let slowest = try await withLedger(on: store) { ledger in
            try await withThrowingTaskGroup(of: Duration.self) { group in
                for number in 0..<4 {
                    group.addTask { try await Self.payments(number, on: ledger) }
                }
                #expect(try Self.audit(path).isClean)
                #expect(try Self.backup(path, folder.file("copy.db")).isClean)
                return try await group.reduce(.zero, max)
            }
        }
        // A wait for the reader would take five seconds.
        #expect(slowest < .seconds(4) * patience, "\(slowest)")
        service.cancel()
        try await service.value
    }

    private static func audit(_ path: String) throws -> Audit {
        try Audit.run(path: path, kinds: TestDatabase.kinds, records: TestDatabase.records)
    }

    private static func backup(_ path: String, _ copy: String) throws -> Audit {
        try SQLiteStore.backup(
            from: path,
            to: copy,
            kinds: TestDatabase.kinds,
            records: TestDatabase.records
        )
    }

    /// Writes more pages to the log than the writer's bound. The database's file stays small,
    /// because each commit writes the same pages.
    private static func fillLog(of path: String) throws {
        let connection = try Connection(path: path, mode: .readWrite)
        try connection.execute(
            """
            PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0;
            CREATE TABLE filling (bytes BLOB); INSERT INTO filling VALUES (zeroblob(1 << 20))
            """
        )
        for _ in 0..<256 { try connection.run("UPDATE filling SET bytes = randomblob(1 << 20)") }
    }

    /// Makes enough payments for several checks of the log.
    ///
    /// - Returns: The duration of the slowest payment.
    private static func payments(_ number: Int, on ledger: Ledger) async throws -> Duration {
        let payee = try await ledger.user("payee-\(number)", cents: 0)
        let payer = try await ledger.user("payer-\(number)", cents: 1_000)
        var slowest = Duration.zero
        for payment in 0..<200 {
            let start = ContinuousClock.now
            let session = try await ledger.lockedSession(payee: payee, payer: payer, cents: 1)
            let key = "key-0123456789-\(number)-\(payment)"
            #expect(try await ledger.pay(session, by: payer, key: key).isAccepted)
            slowest = max(slowest, ContinuousClock.now - start)
        }
        return slowest
    }
}
