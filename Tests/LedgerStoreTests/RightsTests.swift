import Foundation
import GotchuCore
import LedgerTestSupport
import Outbox
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@testable import Ledger
@testable import LedgerStore

@Suite("A role that owns no table")
struct RightsTests {
    /// Returns the grants in docs/operations.md, changed to grant to `role`.
    private static func grants(to role: String) throws -> [String] {
        let page = URL(filePath: #filePath).appending(path: "../../../docs/operations.md")
        let text = try String(contentsOf: page.standardized, encoding: .utf8)
        return text.matches(of: /-c '(GRANT [^']* TO "gotchu-server")'/).map {
            String($0.output.1).replacing("\"gotchu-server\"", with: role)
        }
    }

    @Test("A missing right is reported with its table, and the documented rights suffice")
    func granted() async throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        let role = "till_\(name)"
        let owner = TestDatabase(postgresql: cluster.url(name))
        try owner.execute("CREATE ROLE \(role) LOGIN")
        _ = try owner.open()
        let database = TestDatabase(
            postgresql: "postgres://\(role)@/\(name)?host=\(cluster.socketFolder)"
        )
        func refusal() -> LedgerError? { #expect(throws: LedgerError.self) { try database.open() } }
        #expect(refusal()?.code == .cannotOpen)
        let grants = try Self.grants(to: role)
        #expect(grants.count == 4)
        try owner.execute(grants.joined(separator: ";\n"))
        try owner.execute("REVOKE INSERT ON answers FROM \(role)")
        #expect(refusal()?.message.hasSuffix("the table answers: INSERT.") == true)
        try owner.execute(grants.joined(separator: ";\n"))
        try await withLedger(on: try database.open()) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let session = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            let paid = try await ledger.pay(session, by: payer, key: "key-0123456789-0")
            #expect(paid.isAccepted)
        }
        let outbox = Outbox(try database.open())
        let endpoint = WebhookEndpoint(id: "e", url: "https://h/", owner: nil, createdAt: .now)
        try await outbox.add(endpoint, secret: [1])
        _ = try await outbox.remove("e")
        #expect(try database.audit().isClean)
        // A missing right is a permanent error, not `tryAgain`.
        try owner.execute("REVOKE INSERT ON endpoints FROM \(role)")
        let error = await #expect(throws: LedgerError.self) {
            try await outbox.add(endpoint, secret: [1])
        }
        #expect(error?.code == .cannotOpen && error?.fix?.contains("rights granted") == true)
        try owner.execute("DROP OWNED BY \(role); DROP ROLE \(role)")
    }

    @Test("A missing table is reported as missing, not as a missing right")
    func missing() throws {
        let database = try StoreKind.postgresql.makeDatabase()
        _ = try database.open()
        try database.execute("DROP TABLE deliveries")
        let error = #expect(throws: LedgerError.self) { try database.open() }
        #expect(error?.code == .corrupt)
        #expect(error?.message == "The books have no table deliveries any more.")
    }

    @Test("A role needs exactly the documented rights, and none on foreign tables")
    func every() throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        let role = "clerk_\(name)"
        let owner = TestDatabase(postgresql: cluster.url(name))
        _ = try owner.open()
        try owner.execute("CREATE ROLE \(role) LOGIN")
        try owner.execute(try Self.grants(to: role).joined(separator: ";\n"))
        try owner.execute("CREATE TABLE spatial_ref_sys (srid integer)")
        let link = PostgresCluster.Link(
            try Connection(
                try ConnectionSettings(
                    url: "postgres://\(role)@/\(name)?host=\(cluster.socketFolder)"
                )
            )
        )
        try PostgreSQLRights.require(link.connection)
        var granted: Set<String> = []
        for (table, rights) in PostgreSQLRights.needed {
            for right in rights {
                try owner.execute("REVOKE \(right) ON \(table) FROM \(role)")
                let error = #expect(throws: LedgerError.self) {
                    try PostgreSQLRights.require(link.connection)
                }
                #expect(error?.message.hasSuffix("the table \(table): \(right).") == true)
                try owner.execute("GRANT \(right) ON \(table) TO \(role)")
                granted.insert("\(table) \(right)")
            }
        }
        let documented = try owner.texts(
            """
            SELECT table_name || ' ' || privilege_type
            FROM information_schema.role_table_grants WHERE grantee = '\(role)'
            """
        )
        #expect(granted == Set(documented))
        try owner.execute("DROP OWNED BY \(role); DROP ROLE \(role)")
    }
}
