import Glibc
import PostgresTestSupport
import TestSupport
import Testing

@testable import Postgres

@Suite("A PostgreSQL connection")
struct ConnectionTests {
    private let link: PostgresCluster.Link
    private let database: String

    init() throws {
        let cluster = try PostgresCluster.shared()
        database = try cluster.makeDatabase()
        link = try cluster.connect(database)
    }

    @Test("Values of every kind are returned unchanged")
    func values() throws {
        let texts = ["", "NULL", "a\"b", "a\\b", "{a,b}", "ä€😀", "a\u{1}b", " a "]
        let bytes: [[UInt8]] = [[], [0, 255, 92, 34], Array("\\x".utf8)]
        var rows: [[String?]] = []
        try link.connection.run([
            Query(
                "SELECT $1::bigint::text, $2::text, $3::bigint, encode($4::bytea, 'hex')",
                [.integer(.min), .text("it's"), .null, .bytes([1, 171])]
            ) { row in
                rows.append(try (0..<4).map { try row.optionalText($0) })
            }
        ])
        #expect(rows == [["\(Int64.min)", "it's", nil, "01ab"]])
        let read = try link.connection.query(
            "SELECT * FROM unnest($1::text[]) AS t",
            [.texts(texts + [nil])],
            read: { try $0.optionalText(0) }
        )
        #expect(read == texts + [nil])
        let blobs = try link.connection.query(
            "SELECT * FROM unnest($1::bytea[]) AS b",
            [.byteStrings(bytes)],
            read: { try $0.blob(0) }
        )
        #expect(blobs == bytes)
        let numbers = try link.connection.query(
            "SELECT * FROM unnest($1::bigint[]) AS n",
            [.integers([.max, nil, -1])],
            read: { try $0.optionalInteger(0) }
        )
        #expect(numbers == [.max, nil, -1])
        let counts = try link.connection.query(
            "SELECT cardinality($1::text[]) + cardinality($2::bigint[]) + cardinality($3::bytea[])",
            [.texts([]), .integers([]), .byteStrings([])],
            read: { try $0.integer(0) }
        )
        #expect(counts == [0])
    }

    @Test("A text with a NUL character is refused, and leaves the connection usable")
    func textWithNUL() throws {
        for (sql, value) in [
            ("SELECT $1::text", Value.text("a\0b")),
            ("SELECT unnest($1::text[])", .texts(["a", nil, "b\0"])),
        ] {
            let error = #expect(throws: PostgresError.self) {
                _ = try link.connection.query(sql, [value], read: { try $0.text(0) })
            }
            #expect(error?.kind == .rejected && error?.state == .characterNotInRepertoire)
            #expect(link.isUsable)
            #expect(try link.connection.query("SELECT 7") { try $0.integer(0) } == [7])
        }
    }

    @Test(
        "After a failed statement of a batch the rest is not run, and the batch can be sent again"
    )
    func pipeline() throws {
        try link.connection.execute("CREATE TABLE t (n bigint PRIMARY KEY)")
        let insert = "INSERT INTO t VALUES ($1)"
        let error = #expect(throws: PostgresError.self) {
            try link.connection.run([
                Query("BEGIN"), Query(insert, [.integer(1)]), Query(insert, [.integer(1)]),
                Query(insert, [.integer(2)]), .commit,
            ])
        }
        #expect(error?.kind == .conflict)
        #expect(error?.state == .uniqueViolation)
        #expect(link.isUsable && link.isInTransaction)
        try link.connection.execute("ROLLBACK")
        try link.connection.run([
            Query("BEGIN"), Query(insert, [.integer(1)]), Query(insert, [.integer(2)]), .commit,
        ])
        let count = try link.connection.query("SELECT count(*) FROM t") { try $0.integer(0) }
        #expect(count == [2])
        #expect(!link.isInTransaction)
    }

    @Test("A COMMIT after a failed statement is an error that can be retried")
    func failedCommit() throws {
        try link.connection.execute("BEGIN")
        #expect(throws: PostgresError.self) {
            try link.connection.query("SELECT 1/0") { try $0.integer(0) }
        }
        let error = #expect(throws: PostgresError.self) { try link.connection.run([.commit]) }
        #expect(error?.kind == .retryable)
    }

    @Test("A call that takes too long fails, and the server stops the statement")
    func tooLong() throws {
        let error = #expect(throws: PostgresError.self) {
            try link.connection.query("SELECT 1 FROM pg_sleep(600)", within: .milliseconds(100)) {
                try $0.integer(0)
            }
        }
        #expect(error?.kind == .connectionLost)
        #expect(!link.isUsable)
        let other = try PostgresCluster.shared().connect(database)
        var running: [Int64] = [1]
        let deadline = ContinuousClock.now + .seconds(30)
        while running != [0], ContinuousClock.now < deadline {
            running = try other.connection.query(
                "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' "
                    + "AND state = 'active' AND pid <> pg_backend_pid()"
            ) { try $0.integer(0) }
        }
        #expect(running == [0])
    }

    @Test("A connection that breaks is lost, and its outcome is unknown if a COMMIT was sent")
    func cut() throws {
        let proxy = try CuttingProxy(before: PostgresCluster.shared())
        let settings = try ConnectionSettings(url: proxy.url(database))
        for (queries, kind) in [
            ([Query("SELECT 1")], PostgresError.Kind.connectionLost),
            ([Query("BEGIN"), Query.commit], .unknownOutcome),
        ] {
            let victim = PostgresCluster.Link(try Connection(settings))
            proxy.cut(.afterRequest(skipping: 0))
            let error = #expect(throws: PostgresError.self) { try victim.connection.run(queries) }
            #expect(error?.kind == kind && error?.state == nil, "\(error as Any)")
            #expect(!victim.isUsable)
        }
        #expect(proxy.cuts == 2)
    }

    @Test("A terminated backend is a lost connection, even for a COMMIT, if the server says so")
    func killed() throws {
        let cluster = try PostgresCluster.shared()
        for (queries, kind) in [
            ([Query("SELECT 1")], PostgresError.Kind.connectionLost),
            ([Query("BEGIN"), Query.commit], .unknownOutcome),
        ] {
            let victim = try cluster.connect(database)
            try link.connection.run([
                Query(
                    "SELECT pg_terminate_backend($1::bigint::int, 10000)",
                    [.integer(Int64(victim.connection.backendProcessID))]
                )
            ])
            let error = #expect(throws: PostgresError.self) { try victim.connection.run(queries) }
            // If the server's last message arrives, the message says that nothing was done.
            let state = error?.state?.rawValue
            let expected = state == nil ? kind : PostgresError.Kind.connectionLost
            #expect(state == nil || state == "57P01", "\(error as Any)")
            #expect(error?.kind == expected, "\(error as Any)")
            #expect(!victim.isUsable)
        }
    }

    @Test("A connection receives another connection's notifications, and a waker ends its wait")
    func notifications() throws {
        let waker = Waker()
        try link.connection.execute("LISTEN news")
        let other = try PostgresCluster.shared().connect(database)
        try other.connection.run([Query("SELECT pg_notify('news', $1)", [.text("hello")])])
        let heard = try link.connection.notifications(within: .seconds(30), or: waker)
        #expect(heard.map(\.payload) == ["hello"])
        waker.wake()
        #expect(try link.connection.notifications(within: .seconds(60), or: waker).isEmpty)
    }

    @Test("An error shows only the beginning of a long statement")
    func longStatement() {
        let sql = "CREATE TABLE t (" + String(repeating: "x", count: 9_999)
        let text = PostgresError(.refused, message: "no", sql: sql).description
        #expect(text.hasPrefix("PostgreSQL: no in: CREATE TABLE t (xx") && text.utf8.count < 400)
    }

    @Test(
        "A test cluster leaves no files behind, even if its server was killed",
        arguments: [false, true]
    )
    func gone(isKilled: Bool) throws {
        let folder: String
        do {
            let cluster = try PostgresCluster()
            folder = cluster.folder
            if isKilled { try cluster.killPostmaster() }
        }
        #expect(access(folder, F_OK) != 0)
    }

    @Test(
        "Each SQLSTATE of the server leads to the expected kind of error",
        arguments: [
            ("40001", PostgresError.Kind.retryable), ("40P01", .retryable),
            ("40003", .unknownOutcome),
            ("23505", .conflict), ("23503", .rejected), ("22003", .rejected),
            ("53100", .unavailable),
            ("53300", .unavailable), ("55P03", .unavailable), ("57014", .unavailable),
            ("25006", .unavailable), ("57P01", .connectionLost), ("08006", .connectionLost),
            ("25P03", .connectionLost), ("42P01", .refused), ("XX001", .corrupt),
        ]
    )
    func kinds(code: String, kind: PostgresError.Kind) {
        #expect(PostgresError.Kind(SQLState(rawValue: code)) == kind)
    }
}
