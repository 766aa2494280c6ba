import Foundation
import Synchronization
import TestSupport

/// A payer who pays one session after the other through whatever server answers, and remembers what
/// each came to: the history that is checked afterwards.
struct PayingClient: Sendable {
    struct Payment: Sendable {
        let key: String
        let amount: Int64
        let payee: Int
        var outcome: Outcome
    }

    enum Outcome: Equatable, Sendable {
        case paid(newBalance: Int64)
        case declined
        case unknown
    }

    /// What the clients of one test share.
    final class Tally: Sendable {
        private let state = Mutex((paid: 0, surprises: [String](), isOver: false))

        var paid: Int { state.withLock { $0.paid } }
        var surprises: [String] { state.withLock { $0.surprises } }
        var isOver: Bool { state.withLock { $0.isOver } }

        func countPaid() { state.withLock { $0.paid += 1 } }
        /// An answer that no fault excuses: a business error that is not one.
        func note(_ surprise: String) { state.withLock { $0.surprises.append(surprise) } }
        func finish() { state.withLock { $0.isOver = true } }

        /// Returns once so many more payments have been acknowledged.
        func waitForPayments(_ more: Int) async throws {
            let target = paid + more
            try await eventually("\(more) more payments", within: .seconds(90)) {
                paid >= target ? true : nil
            }
        }
    }

    let number: Int
    let token: String
    let payees: [String]
    let fleet: Fleet
    let tally: Tally

    /// Pays until the test is over.
    func run(seed: UInt64) async -> [Payment] {
        var generator = SeededGenerator("Client \(number)", seed: seed &+ UInt64(number))
        var payments: [Payment] = []
        while !tally.isOver {
            let payee = Int.random(in: payees.indices, using: &generator)
            let amount = Int64.random(in: 1...20, using: &generator)
            let servers = (0..<6).map { _ in Int.random(in: 0..<1_000, using: &generator) }
            guard let sid = await session(of: payee, amount, through: servers) else {
                // SAFETY: a client whose server is away waits a little, as a real one does.
                try? await Task.sleep(for: .milliseconds(50))
                continue
            }
            let key = "0123456789abcdef-\(payments.count)"
            var payment = Payment(key: key, amount: amount, payee: payee, outcome: .unknown)
            for server in servers where payment.outcome == .unknown {
                payment.outcome = await send(sid, key: key, through: server)
            }
            if case .paid = payment.outcome { tally.countPaid() }
            payments.append(payment)
        }
        return payments
    }

    /// A new session that this payer has locked; `nil` if the faults did not let it come about.
    private func session(of payee: Int, _ amount: Int64, through servers: [Int]) async -> String? {
        let wire = await fleet.wire(servers[0])
        guard let made = try? await wire.create(payees[payee], cents: Int(amount)),
            isAnswer(made, "create")
        else { return nil }
        for server in servers {
            let wire = await fleet.wire(server)
            guard let locked = try? await wire.lock(made.string("sid"), by: token) else { continue }
            if isAnswer(locked, "lock") { return made.string("sid") }
        }
        return nil
    }

    private func send(_ sid: String, key: String, through server: Int) async -> Outcome {
        let wire = await fleet.wire(server)
        guard let reply = try? await wire.send(sid, by: token, key: key) else { return .unknown }
        if reply.status == 402 { return .declined }
        guard isAnswer(reply, "send"), let balance = reply.integer("new_balance_cents") else {
            return .unknown
        }
        return .paid(newBalance: balance)
    }

    /// Whether it is a success. Being told to try again is none; anything else is a surprise.
    private func isAnswer(_ reply: WireReply, _ what: String) -> Bool {
        if reply.status == 200 { return true }
        if reply.status != 503, reply.status != 429 {
            tally.note("\(what): \(reply.status) \(reply.text)")
        }
        return false
    }

    /// Asks for what is not known, until the answer is definite.
    func resolve(_ payments: [Payment]) async throws -> [Payment] {
        var resolved = payments
        for (index, payment) in payments.enumerated() where payment.outcome == .unknown {
            resolved[index].outcome = try await eventually("the outcome of \(payment.key)") {
                () async throws -> Outcome? in
                let wire = await fleet.wire(index)
                guard let reply = try? await wire.get("/wallet/sends/\(payment.key)", token: token)
                else { return nil }
                switch (reply.status, reply.string("outcome")) {
                case (200, "paid"):
                    return reply.integer("new_balance_cents").map { .paid(newBalance: $0) }
                case (200, "declined"), (404, _): return .declined
                default: return nil
                }
            }
        }
        return resolved
    }
}
