import Ledger
import LedgerStore
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@Suite("PostgreSQL's search path")
struct SearchPathTests {
    @Test("A search path that begins with an empty schema is refused, and creates no second ledger")
    func hidden() throws {
        let database = try StoreKind.postgresql.makeDatabase()
        _ = try database.open()
        let user = PostgresCluster.user
        try database.execute("CREATE SCHEMA \(user)")
        let openings: [() throws -> Void] = [
            { _ = try database.open() }, { _ = try database.audit() },
        ]
        for open in openings {
            let error = #expect(throws: LedgerError.self) { try open() }
            #expect(error?.code == .cannotOpen)
            #expect(error?.message.contains("schema public") == true)
            #expect(error?.fix?.contains("search_path") == true)
        }
        #expect(
            try database.texts(
                "SELECT tablename::text FROM pg_tables WHERE schemaname = '\(user)'"
            ) == []
        )
    }

    @Test("A search path may name a schema that needs quotes, and each schema has its own ledger")
    func quoted() throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        for schema in ["corner-cafe", "Main Street"] {
            try cluster.connect(name).connection.execute("CREATE SCHEMA \"\(schema)\"")
            try cluster.connect("postgres").connection.execute(
                "ALTER DATABASE \(name) SET search_path = \"\(schema)\""
            )
            let database = TestDatabase(postgresql: cluster.url(name))
            _ = try database.open()
            let audit = try database.audit()
            #expect(audit.isClean, "\(audit.findings)")
            #expect(audit.findings.prefix(3).allSatisfy { $0.count > 0 }, "\(audit.findings)")
        }
    }
}
