import GotchuCore
import Ledger
import LedgerTestSupport
import Logging
import ServiceLifecycle

/// Runs a ledger on a store as the server does, stopped in order when `body` is done.
func withLedger<Result: Sendable>(
    on store: any LedgerStore,
    _ body: @Sendable (Ledger) async throws -> Result
) async throws -> Result {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let ledger = Ledger(store: store, logger: logger)
    let group = ServiceGroup(
        configuration: ServiceGroupConfiguration(services: ledger.services, logger: logger)
    )
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await group.run() }
        let result = try await body(ledger)
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
        return result
    }
}

extension Ledger {
    /// A user with a wallet.
    func user(_ name: String, cents: Int64) async throws -> UserID {
        let open = OpenWallet(
            email: "\(name)@example.org",
            displayName: name,
            opening: .init(minorUnits: cents)
        )
        return try await openWallet(open).id
    }

    /// Returns once so many commands wait; the test's time limit is the deadline.
    func waitForQueue(of count: Int) async throws {
        while waitingCount < count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// A session of 300 seconds, locked by a payer.
    func lockedSession(payee: UserID, payer: UserID, cents: Int64) async throws -> Session {
        let created = try await create(
            CreateSession(
                payee: payee,
                amount: .init(minorUnits: cents),
                memo: nil,
                reference: nil,
                lifetime: .seconds(300)
            )
        )
        guard case .accepted(let session) = created else {
            throw UnexpectedRefusal(description: "\(created)")
        }
        let locked = try await lock(LockSession(session: session.id, payer: payer))
        guard case .accepted(let session) = locked else {
            throw UnexpectedRefusal(description: "\(locked)")
        }
        return session
    }

    /// Pays a session under a key.
    func pay(_ session: Session, by payer: UserID, key: String) async throws -> SendAnswer {
        guard let key = IdempotencyKey(rawValue: key) else {
            throw UnexpectedRefusal(description: "the key")
        }
        let sent = try await send(
            Send(
                key: SendKey(user: payer, key: key),
                fingerprint: Cast.fingerprint(session: 0, expected: nil),
                session: session.id,
                expectedAmount: nil,
                requestID: "request"
            )
        )
        guard case .accepted(let answer) = sent else {
            throw UnexpectedRefusal(description: "\(sent)")
        }
        return answer
    }
}

struct UnexpectedRefusal: Error, CustomStringConvertible {
    let description: String
}
