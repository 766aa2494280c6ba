import GotchuCore
import LedgerTestSupport
import SQLite
import Testing

@testable import Ledger

@Suite("Books of an older program", .timeLimit(.minutes(2)))
struct OlderBooksTests {
    /// Each version that books may have been left at.
    private static let versions =
        (1..<Schema.newestVersion).map { (StoreKind.sqlite, $0) }
        + (1..<PostgreSQLSchema.newestVersion).map { (StoreKind.postgresql, $0) }

    @Test("of any version are brought up to date with all the money in them", arguments: versions)
    func everyVersion(kind: StoreKind, version: Int64) async throws {
        let books = try kind.makeBooks()
        try Self.make(books, version: version)
        // Until a server has done that, they are left alone.
        let early = #expect(throws: LedgerError.self) { try books.audit() }
        #expect(early?.code == .foreign)
        let payer = UserID(trusted: "payer")
        let payee = UserID(trusted: "payee")
        try await withLedger(on: try books.open()) { ledger in
            let key = try #require(IdempotencyKey(rawValue: "key-0123456789-0"))
            let session = try #require(SessionID(rawValue: "session-0"))
            let send = Send(
                key: SendKey(user: payer, key: key),
                fingerprint: Cast.fingerprint(session: 0, expected: nil),
                session: session,
                expectedAmount: nil,
                requestID: "again"
            )
            guard case .accepted(let answer) = try await ledger.send(send) else {
                throw UnexpectedRefusal(description: "the old payment")
            }
            #expect(answer.isReplay && answer.send.requestID == "first")
            let refund = Refund(
                key: SendKey(user: payee, key: key),
                fingerprint: Cast.fingerprint(session: 0, expected: 2),
                session: session,
                amount: 2,
                requestID: "refund"
            )
            guard case .accepted(let back) = try await ledger.refund(refund) else {
                throw UnexpectedRefusal(description: "the refund of an old payment")
            }
            #expect(!back.isReplay)
            let open = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            let paid = try await ledger.pay(open, by: payer, key: "key-0123456789-1")
            #expect(paid.send.outcome.isPaid)
        }
        let store = try books.open()
        #expect(try await store.statement(of: payer, entries: 9)?.wallet.balance == 90)
        #expect(try await store.statement(of: payer, entries: 9)?.entries.count == 4)
        let audit = try books.audit()
        #expect(audit.isClean, "\(audit.findings)")
    }

    private static func make(_ books: TestBooks, version: Int64) throws {
        let print: String
        switch books.kind {
        case .sqlite:
            let connection = try Connection(path: books.place, mode: .create)
            for step in Schema.steps.prefix(Int(version)) { try connection.execute(step) }
            try connection.execute(
                """
                PRAGMA application_id = \(Schema.applicationID);
                PRAGMA user_version = \(version);
                """
            )
            print = "x'00ff\(String(repeating: "00", count: 30))'"
        case .postgresql:
            let steps = PostgreSQLSchema.steps.prefix(Int(version)).enumerated().map {
                "\($1)\nINSERT INTO gotchu_migrations (version) VALUES (\($0 + 1));"
            }
            let versions = """
                CREATE TABLE gotchu_migrations (
                    version bigint PRIMARY KEY,
                    migrated_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP
                );
                """
            try books.execute(([versions] + steps).joined(separator: "\n"))
            print = "'\\x00ff\(String(repeating: "00", count: 30))'::bytea"
        }
        // These columns had no defaults where they were there from the beginning.
        let isNew = books.kind == .postgresql
        try books.execute(
            """
            INSERT INTO users (id, email, display_name, created_at) VALUES
                ('payer', 'payer@shop.example', 'payer', 1),
                ('payee', 'payee@shop.example', 'payee', 1);
            INSERT INTO wallets (id, user_id, system_account, currency, balance, entry_count) VALUES
                ('w-mint', NULL, 'DEV_MINT', 'usd', -100, 1),
                ('w-payer', 'payer', NULL, 'usd', 95, 2), ('w-payee', 'payee', NULL, 'usd', 5, 1);
            INSERT INTO sessions (
                id, eid, payee_id, amount, currency, created_at, expires_at, status, payer_id,
                paid_at, version\(isNew ? ", rotations, refunded" : "")
            ) VALUES (
                'session-0', '0123456789', 'payee', 5, 'usd', 1, 9, 'PAID', 'payer', 3, 3
                \(isNew ? ", 0, 0" : "")
            );
            INSERT INTO transfers (
                id, kind, amount, currency, created_at, session_id, user_id, idempotency_key
            ) VALUES
                ('opening', 'DEV_OPENING', 100, 'usd', 1, NULL, NULL, NULL),
                ('payment', 'PAYMENT', 5, 'usd', 3, 'session-0', 'payer', 'key-0123456789-0');
            INSERT INTO entries (wallet_id, number, transfer_id, amount) VALUES
                ('w-mint', 1, 'opening', -100), ('w-payer', 1, 'opening', 100),
                ('w-payer', 2, 'payment', -5), ('w-payee', 1, 'payment', 5);
            INSERT INTO sends (
                user_id, idempotency_key, fingerprint, session_id, request_id, decided_at,
                transfer_id, new_balance
            ) VALUES (
                'payer', 'key-0123456789-0', \(print), 'session-0', 'first', 3, 'payment', 95
            );
            """
        )
    }
}
