import Foundation
import GotchuCore
import Ledger
import Postgres
import PostgresTestSupport
import Testing

@Suite("A role that owns no table", .timeLimit(.minutes(2)))
struct RightsTests {
    /// What the page on operations has the owner grant.
    private static func grants(to role: String) throws -> [String] {
        let page = URL(filePath: #filePath).appending(path: "../../../../docs/operations.md")
        let text = try String(contentsOf: page.standardized, encoding: .utf8)
        return text.matches(of: /-c '(GRANT [^']*)'/).map {
            String($0.output.1).replacing("\"gotchu-server\"", with: role)
        }
    }

    @Test("is told which table is closed to it, and with the rights that are documented it serves")
    func granted() async throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        let role = "till_\(name)"
        let owner = TestBooks(postgresql: cluster.url(name))
        try owner.execute("CREATE ROLE \(role) LOGIN")
        _ = try owner.open()
        let books = TestBooks(
            postgresql: "postgres://\(role)@/\(name)?host=\(cluster.socketFolder)"
        )
        func refusal() -> LedgerError? { #expect(throws: LedgerError.self) { try books.open() } }
        #expect(refusal()?.code == .cannotOpen)
        let grants = try Self.grants(to: role)
        #expect(grants.count == 3)
        try owner.execute(grants.joined(separator: ";\n"))
        try owner.execute("REVOKE INSERT ON refunds FROM \(role)")
        #expect(refusal()?.message.hasSuffix("the table refunds.") == true)
        try owner.execute(grants.joined(separator: ";\n"))
        try await withLedger(on: try books.open()) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let session = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            let paid = try await ledger.pay(session, by: payer, key: "key-0123456789-0")
            #expect(paid.send.outcome.isPaid)
        }
        let store = try books.open()
        let endpoint = WebhookEndpoint(id: "e", url: "https://h/", payee: nil, createdAt: .now)
        try await store.add(endpoint, secret: [1])
        _ = try await store.removeWebhookEndpoint("e")
        #expect(try books.audit().isClean)
        // What it may not do is no hiccup.
        try owner.execute("REVOKE INSERT ON webhook_endpoints FROM \(role)")
        let error = await #expect(throws: LedgerError.self) {
            try await store.add(endpoint, secret: [1])
        }
        #expect(error?.code == .cannotOpen && error?.fix?.contains("rights granted") == true)
        try owner.execute("DROP OWNED BY \(role); DROP ROLE \(role)")
    }
}
