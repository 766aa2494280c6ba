import GotchuCore
import Ledger
import LedgerStore
import LedgerTestSupport
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@Suite("A PostgreSQL without free connections")
struct NoRoomTests {
    @Test("Commands are refused while the database has no free connection, and then accepted")
    func taken() async throws {
        let cluster = try PostgresCluster(
            settings: ["max_connections=16", "superuser_reserved_connections=0"]
        )
        let database = TestDatabase(postgresql: cluster.url(try cluster.makeDatabase()))
        try await withLedger(on: try database.open()) { ledger in
            let user = try await ledger.user("a", cents: 100)
            var held = [try cluster.connect("postgres")]
            try held[0].connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname <> 'postgres'"
            )
            while let link = try? cluster.connect("postgres") { held.append(link) }
            #expect(held.count > 2)
            let error = await #expect(throws: LedgerError.self) {
                _ = try await ledger.user("b", cents: 100)
            }
            #expect(error?.code == .tryAgain)
            #expect(error?.description.contains("too many clients") == true, "\(error as Any)")
            held = []
            let other = try await eventually("a connection is free again") {
                try? await ledger.user("b", cents: 100)
            }
            #expect(other != user)
        }
        #expect(try database.audit().isClean)
    }
}
