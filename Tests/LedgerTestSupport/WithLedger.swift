package import GotchuCore
package import Ledger
internal import Logging
package import Payments
internal import ServiceLifecycle

/// Runs a ledger on a store as the server does, and shuts it down gracefully when `body` returns.
package func withLedger<Result: Sendable>(
    on store: any LedgerStorage,
    kinds: [RecordKind] = [SettleSession.kind],
    _ body: @Sendable (Ledger) async throws -> Result
) async throws -> Result {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let ledger = Ledger(store: store, kinds: kinds, logger: logger)
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
    /// Creates a user with an account.
    package func user(_ name: String, cents: Int64) async throws -> UserID {
        let open = OpenAccount(
            login: "\(name)@example.org",
            displayName: name,
            opening: Money(minorUnits: cents)
        )
        return try await submit(open).get().id
    }

    /// Waits until `count` commands are queued; the test's time limit is the deadline.
    package func waitForQueue(of count: Int) async throws {
        while waitingCount < count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Creates a session that nobody has locked.
    package func openSession(
        payee: UserID,
        cents: Int64,
        lifetime: Duration = .seconds(300)
    ) async throws -> Session {
        let create = CreateSession(
            payee: payee,
            amount: Money(minorUnits: cents),
            memo: nil,
            reference: nil,
            lifetime: lifetime
        )
        return try await submit(create).get().session
    }

    /// Creates a session of 300 seconds, locked by a payer.
    package func lockedSession(
        payee: UserID,
        payer: UserID,
        cents: Int64
    ) async throws -> Session {
        let session = try await openSession(payee: payee, cents: cents)
        return try await submit(LockSession(session: session.id, payer: payer)).get()
    }

    /// Pays a session under a key.
    package func pay(
        _ session: Session,
        by payer: UserID,
        key: String
    ) async throws -> CommandReply<Pay.Outcome> {
        try await submit(
            Pay(session: session.id, payer: payer, expectedAmount: nil),
            as: .test(user: payer, key: key)
        )
    }

    /// Refunds a session, or a part of it, under a key.
    package func refund(
        _ session: Session,
        cents: Int64? = nil,
        key: String
    ) async throws -> CommandReply<RefundPayment.Outcome> {
        try await submit(
            RefundPayment(session: session.id, payee: session.payee, amount: cents),
            as: .test(user: session.payee, key: key)
        )
    }
}

extension KeyedRequest {
    /// Creates a request with a key and a fixed fingerprint.
    package static func test(
        user: UserID,
        key: String,
        id: String = "request"
    ) throws -> KeyedRequest {
        guard let key = IdempotencyKey(rawValue: key) else { throw InvalidKey(text: key) }
        let fingerprint = Cast.fingerprint(session: 0, expected: nil)
        return KeyedRequest(user: user, key: key, fingerprint: fingerprint, id: id)
    }
}

extension CommandReply {
    /// A Boolean that is true if the command was accepted.
    package var isAccepted: Bool { if case .success = outcome { true } else { false } }

    /// The refusal; `nil` if the command was accepted.
    package var refusal: Refusal? {
        if case .failure(let refusal) = outcome { refusal } else { nil }
    }
}

extension LedgerStorage {
    /// Returns a user's account; `nil` if there is none.
    package func account(of user: UserID, in currency: Currency = .usd) async throws -> Account? {
        let range = HistoryRange(.newest(skipping: 0), limit: 1)
        return try await history(of: Account.Key(.user(user), currency), range)?.account
    }
}

package struct InvalidKey: Error {
    package let text: String
}
