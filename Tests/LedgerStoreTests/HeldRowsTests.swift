import GotchuCore
import LedgerTestSupport
import Payments
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@testable import Ledger
@testable import LedgerStore

/// Rows that another session has locked. The other session then sends nothing more.
@Suite("Rows that another session holds")
struct HeldRowsTests {
    @Test(
        "A payment waits about two seconds for a row that a frozen server locked, and is made",
        arguments: StoreKind.shared
    )
    func frozen(kind: StoreKind) async throws {
        let database = try kind.makeDatabase()
        try await withLedger(on: try database.open()) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let session = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            let frozen = try database.connection()
            try PostgreSQLSession.prepareForWriting(frozen.connection)
            let start = ContinuousClock.now
            try Self.hold(accountOf: payer, by: frozen)
            let paid = try await ledger.pay(session, by: payer, key: "key-0123456789-0")
            #expect(paid.isAccepted)
            let waited = ContinuousClock.now - start
            #expect(waited > .seconds(1) && waited < .seconds(3) * patience, "\(waited)")
            #expect(throws: PostgresError.self) { try frozen.connection.execute("COMMIT") }
        }
        #expect(try database.audit().isClean)
    }

    @Test(
        "Commands that need a locked row stay undecided, and the rest of their batch is made",
        arguments: StoreKind.shared
    )
    func neighbours(kind: StoreKind) async throws {
        let database = try kind.makeDatabase()
        let store = try database.open()
        try await withLedger(on: store) { ledger in
            var users: [UserID] = []
            for name in ["a", "b", "c", "d"] {
                users.append(try await ledger.user(name, cents: 100))
            }
            let held = try await ledger.lockedSession(payee: users[0], payer: users[1], cents: 7)
            let free = try await ledger.lockedSession(payee: users[2], payer: users[3], cents: 7)
            let own = try await ledger.lockedSession(payee: users[2], payer: users[3], cents: 7)
            let silent = try database.connection()
            // A payment learns the payee's account only from its session.
            try Self.hold(accountOf: users[0], by: silent)
            try silent.connection.run([
                Query("SELECT FROM records WHERE id = $1 FOR UPDATE", [.text(own.id.rawValue)])
            ])
            let payments = [held, free, own].enumerated().map { Self.payment(of: $1, $0) }
            _ = try await store.commit(Batch(payments))
            let verdicts = payments.map { $0.succeed() }
            #expect(verdicts == [.undecided, .accepted, .undecided])
            let refusal = await #expect(throws: LedgerError.self) {
                _ = try await ledger.pay(held, by: users[1], key: "key-0123456789-7")
            }
            #expect(refusal?.code == .tryAgain)
            try silent.connection.execute("ROLLBACK")
            let paid = try await ledger.pay(held, by: users[1], key: "key-0123456789-7")
            #expect(paid.isAccepted && !paid.isReplay)
        }
        #expect(try database.audit().isClean)
    }

    private static func hold(accountOf user: UserID, by link: PostgresCluster.Link) throws {
        try link.connection.run([
            Query("BEGIN"),
            Query("SELECT FROM accounts WHERE owner = $1 FOR UPDATE", [.text(user.rawValue)]),
        ])
    }

    private static func payment(of session: Session, _ number: Int) -> any Submission {
        guard let payer = session.payer else { preconditionFailure("the session is locked") }
        return Pending(
            Pay(session: session.id, payer: payer, expectedAmount: nil),
            as: KeyedRequest(
                user: payer,
                key: Cast.keys[number],
                fingerprint: Cast.fingerprint(session: 0, expected: nil),
                id: "request"
            ),
            at: .now
        ) { _ in }
    }
}
