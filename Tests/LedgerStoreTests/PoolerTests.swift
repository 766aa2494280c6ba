import Foundation
import Ledger
import LedgerStore
import LedgerTestSupport
import PostgresTestSupport
import TestSupport
import Testing

/// A real PgBouncer in front of a real PostgreSQL.
@Suite("Poolers")
struct PoolerTests {
    /// PgBouncer in front of the shared cluster.
    private struct Pooler {
        private static let port = 6432

        let program: Program
        let url: String

        init(_ mode: String, database: String, of cluster: PostgresCluster) async throws {
            let folder = "\(cluster.folder)/\(mode)"
            let owner = getuid() == 0 ? getpwnam("postgres") : nil
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: false
            )
            let settings = """
                [databases]
                * = host=\(cluster.socketFolder) user=\(PostgresCluster.user)
                [pgbouncer]
                pool_mode = \(mode)
                auth_type = any
                listen_addr =
                listen_port = \(Self.port)
                unix_socket_dir = \(folder)
                """
            try settings.write(toFile: "\(folder)/ini", atomically: true, encoding: .utf8)
            if let owner {
                for path in [folder, "\(folder)/ini"] {
                    chown(path, owner.pointee.pw_uid, owner.pointee.pw_gid)
                }
            }
            // PgBouncer refuses to run as root.
            let setpriv = [
                "/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups",
            ]
            let asOwner = owner == nil ? [] : setpriv
            let command = asOwner + ["/usr/sbin/pgbouncer", "\(folder)/ini"]
            let program = try Program(command[0], Array(command.dropFirst()))
            self.program = program
            let user = PostgresCluster.user
            url = "postgres://\(user)@/\(database)?host=\(folder)&port=\(Self.port)"
            try await eventually("PgBouncer listens; it said: \(program.text)") {
                access("\(folder)/.s.PGSQL.\(Self.port)", F_OK) == 0 ? true : nil
            }
        }
    }

    @Test(
        "A pooler in transaction or statement mode is refused with a fix",
        arguments: ["transaction", "statement"]
    )
    func refused(mode: String) async throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        let pooler = try await Pooler(mode, database: name, of: cluster)
        let error = #expect(throws: LedgerError.self) {
            try PostgreSQLStore(url: pooler.url, logger: TestDatabase.logger)
        }
        #expect(error?.code == .cannotOpen)
        #expect(error?.message.contains("by transaction") == true, "\(error as Any)")
        #expect(error?.fix?.contains("session mode") == true)
        withExtendedLifetime(pooler) {}
    }

    @Test("A payment through a pooler in session mode is made")
    func session() async throws {
        let cluster = try PostgresCluster.shared()
        let pooler = try await Pooler("session", database: try cluster.makeDatabase(), of: cluster)
        let store = try PostgreSQLStore(url: pooler.url, logger: TestDatabase.logger)
        try await withLedger(on: store) { ledger in
            let payee = try await ledger.user("payee", cents: 1)
            let payer = try await ledger.user("payer", cents: 10)
            let session = try await ledger.lockedSession(payee: payee, payer: payer, cents: 4)
            _ = try await ledger.pay(session, by: payer, key: "0123456789abcdef")
            #expect(try await store.balance(of: payee) == 5)
        }
        withExtendedLifetime(pooler) {}
    }
}
