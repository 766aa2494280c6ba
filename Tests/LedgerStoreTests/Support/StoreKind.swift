import Ledger
import LedgerStore
import Logging
import Payments
import Postgres
import PostgresTestSupport
import SQLite
import TestSupport

/// The stores: SQLite, PostgreSQL, and PostgreSQL that is distributed over a cluster. All must
/// behave alike.
enum StoreKind: String, Sendable {
    case sqlite
    case postgresql
    /// PostgreSQL with Citus, on machines where Citus is installed.
    case distributed

    /// The stores on one server, for tests that would take too long on a cluster.
    static let single: [StoreKind] = [.sqlite, .postgresql]
    static let all = single + clusters
    /// The stores that several servers can share.
    static let shared = [.postgresql] + clusters
    private static let clusters: [StoreKind] = CitusCluster.isInstalled ? [.distributed] : []

    /// Creates an empty database.
    func makeDatabase() throws -> TestDatabase {
        switch self {
        case .sqlite:
            let folder = try TemporaryFolder()
            return TestDatabase(kind: self, location: folder.file("books.db"), folder: folder)
        case .postgresql:
            let cluster = try PostgresCluster.shared()
            let url = cluster.url(try cluster.makeDatabase())
            return TestDatabase(kind: self, location: url, folder: nil)
        case .distributed:
            let url = try CitusCluster.shared().makeDatabase { url in
                _ = try PostgreSQLStore.migrate(url: url, logger: TestDatabase.logger)
                _ = try PostgreSQLStore.distribute(url: url, logger: TestDatabase.logger)
            }
            return TestDatabase(kind: self, location: url, folder: nil)
        }
    }
}

/// The database of one test in one of the stores.
struct TestDatabase: Sendable {
    let kind: StoreKind
    /// A path or a URL.
    let location: String
    fileprivate let folder: TemporaryFolder?

    fileprivate init(kind: StoreKind, location: String, folder: TemporaryFolder?) {
        self.kind = kind
        self.location = location
        self.folder = folder
    }

    /// Creates a reference to a PostgreSQL database that the test has created.
    init(postgresql url: String) {
        self.init(kind: .postgresql, location: url, folder: nil)
    }

    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    static let kinds: [TransferKind] = [.opening, .payment, .refund, .stake, .release, .returned]
    static let records: [RecordRule] = [.sessions, .groups, .boxes]

    func open() throws -> any Store {
        switch kind {
        case .sqlite: try SQLiteStore(path: location)
        case .postgresql, .distributed: try PostgreSQLStore(url: location, logger: Self.logger)
        }
    }

    /// - Parameters:
    ///   - kinds: Further kinds of transfers.
    ///   - records: The rules of further kinds of records.
    func audit(
        pins: [SealPin] = [],
        kinds: [TransferKind] = [],
        records: [RecordRule] = []
    ) throws -> Audit {
        let (kinds, records) = (Self.kinds + kinds, Self.records + records)
        switch kind {
        case .sqlite:
            return try Audit.run(path: location, kinds: kinds, records: records, pins: pins)
        case .postgresql, .distributed:
            return try Audit.run(url: location, kinds: kinds, records: records, pins: pins)
        }
    }

    /// Runs a script on a connection of its own.
    func execute(_ sql: String) throws {
        switch kind {
        case .sqlite: try SQLite.Connection(path: location, mode: .readWrite).execute(sql)
        case .postgresql, .distributed: try connection().connection.execute(sql)
        }
    }

    /// Returns the first column of a query's rows, as texts.
    func texts(_ sql: String) throws -> [String] {
        switch kind {
        case .sqlite:
            try SQLite.Connection(path: location, mode: .readOnly).query(sql) { try $0.text(0) }
        case .postgresql, .distributed: try connection().connection.query(sql) { try $0.text(0) }
        }
    }

    /// Runs a script with guards and checks switched off. No program of gotchu can do this.
    func damage(_ sql: String) throws {
        switch kind {
        case .sqlite: try SampleLedger.damage(location, sql)
        case .postgresql, .distributed:
            let checks = try texts(
                """
                SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname)
                FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace
                """
            )
            let script = checks + ["SET session_replication_role = replica", sql]
            try execute(script.joined(separator: ";\n"))
        }
    }

    /// Opens another connection to the PostgreSQL database.
    func connection() throws -> PostgresCluster.Link {
        PostgresCluster.Link(
            try Postgres.Connection(try ConnectionSettings(url: location))
        )
    }
}
