import Foundation
import GotchuAPI
import LedgerTestSupport
import Synchronization
import TestSupport

/// A client that creates, locks and pays one session after the other at any server that answers.
/// Some of its calls are wrong on purpose. It records every call for the later check.
struct PayingClient: Sendable {
    /// The shared state of a test's clients.
    final class Tally: Sendable {
        private let state = Mutex(
            (paid: 0, sids: [String](), keys: 0, surprises: [String](), isOver: false)
        )

        var paid: Int { state.withLock { $0.paid } }
        var sids: [String] { state.withLock { $0.sids } }
        var surprises: [String] { state.withLock { $0.surprises } }
        var isOver: Bool { state.withLock { $0.isOver } }

        func countPaid() { state.withLock { $0.paid += 1 } }
        /// Records a reply that is neither a success nor a refusal, and that no fault explains.
        func note(_ surprise: String) { state.withLock { $0.surprises.append(surprise) } }
        func finish() { state.withLock { $0.isOver = true } }

        /// Stores the id of a new session, bill or contest, and returns its number.
        func number(_ sid: String) -> Int {
            state.withLock { state in
                state.sids.append(sid)
                return state.sids.count - 1
            }
        }

        func nextKey() -> Int {
            state.withLock { state in
                state.keys += 1
                return state.keys
            }
        }

        /// Waits until this many more payments are acknowledged.
        func waitForPayments(_ more: Int) async throws {
            let target = paid + more
            try await eventually("\(more) more payments", within: .seconds(90)) {
                paid >= target ? true : nil
            }
        }
    }

    /// The age of a lock after which the client does not pay. A lock lasts for one minute.
    private static let lease: Duration = .seconds(35)

    /// The client's index among the users.
    let number: Int
    /// The tokens of all users; payees come first.
    let users: [String]
    let payees: Int
    let fleet: Fleet
    let tally: Tally

    /// Pays until the test is over.
    func run(seed: UInt64) async -> [RecordedCall] {
        var generator = SeededGenerator("Client \(number)", seed: seed &+ UInt64(number))
        var history: [RecordedCall] = []
        while !tally.isOver {
            let before = history.count
            await runSession(&history, &generator)
            let new = history[before...]
            guard new.isEmpty || new.contains(where: { $0.reply == nil }) else { continue }
            // SAFETY: a client whose server does not answer waits briefly, as a real client does.
            try? await Task.sleep(for: .milliseconds(50))
        }
        return history
    }

    /// Runs the calls of one session.
    private func runSession(
        _ history: inout [RecordedCall],
        _ generator: inout SeededGenerator
    ) async {
        let servers = (0..<6).map { _ in Int.random(in: 0..<1_000, using: &generator) }
        let payee = Int.random(in: 0..<payees, using: &generator)
        let isDear = Int.random(in: 0..<12, using: &generator) == 0
        let amount = Int64.random(in: isDear ? 2_500...6_000 : 1...20, using: &generator)
        let scenario = Int.random(in: 0..<100, using: &generator)
        if scenario >= 80 {
            return await share(&history, scenario % 4, payee, amount, servers, &generator)
        }
        let allowsTip = scenario % 3 == 0
        guard let created = await create(payee, amount, allowsTip, through: servers[0]),
            let session = created.action.session
        else { return }
        history.append(created)
        if scenario < 8 {
            history.append(await call(.cancel(session: session, user: payee), through: servers))
        }
        let rival = payees + (number - payees + 1) % (users.count - payees)
        var locks = [Step.Action.lock(session: session, user: number)]
        if scenario < 30 { locks.append(.lock(session: session, user: rival)) }
        let locked = await callAll(locks, through: servers)
        history += locked
        let holder = locked.first {
            $0.reply?.content == .session(status: .locked, payer: $0.action.user)
        }
        guard let payer = holder?.action.user, let began = holder?.began else { return }
        guard ContinuousClock.now - began < Self.lease else { return }
        let send = Step.Action.send(
            session: session,
            user: payer,
            key: tally.nextKey(),
            expected: nil,
            tip: allowsTip ? Int64.random(in: 0...3, using: &generator) : 0
        )
        // For one payment in four, the client disconnects after a few milliseconds.
        let patience = scenario % 4 == 0 ? Duration.milliseconds(1 + scenario % 13) : nil
        let paid = await call(send, through: servers, patience)
        history.append(paid)
        guard case .paid = paid.reply?.content else { return }
        tally.countPaid()
        let followUps = followUpCalls(after: send, payee, amount, rival, &generator)
        history += await callAll(followUps, through: servers)
    }

    /// Returns the calls after a payment: often none, otherwise a repeat, a wrong payment or
    /// refunds.
    private func followUpCalls(
        after send: Step.Action,
        _ payee: Int,
        _ amount: Int64,
        _ rival: Int,
        _ generator: inout SeededGenerator
    ) -> [Step.Action] {
        guard case .send(let session, let payer, let key, _, _) = send else { return [] }
        func refund(_ amount: Int64?) -> Step.Action {
            .refund(session: session, user: payee, key: tally.nextKey(), amount: amount)
        }
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: return [send]
        case 1: return [.send(session: max(0, session - 1), user: payer, key: key, expected: nil)]
        case 2: return [.send(session: session, user: rival, key: tally.nextKey(), expected: nil)]
        case 3: return [refund(nil)]
        case 4: return [refund(Int64.random(in: 1...amount + 2, using: &generator))]
        case 5: return [refund(nil), refund(1)]
        default: return []
        }
    }

    /// Makes several calls at once.
    func callAll(_ actions: [Step.Action], through servers: [Int]) async -> [RecordedCall] {
        await withTaskGroup(of: RecordedCall.self) { group in
            for (index, action) in actions.enumerated() {
                let turned = Array(servers[index...] + servers[..<index])
                group.addTask { await call(action, through: turned) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Creates a session. Returns `nil` without a successful reply, because no client then knows
    /// the id.
    private func create(
        _ payee: Int,
        _ amount: Int64,
        _ allowsTip: Bool,
        through server: Int
    ) async -> RecordedCall? {
        let began = ContinuousClock.now
        let wire = await fleet.wire(server)
        let more = allowsTip ? #","allows_tip":true"# : ""
        guard let reply = try? await wire.create(users[payee], cents: Int(amount), more: more)
        else { return nil }
        guard reply.status == 200 else {
            note(reply, "create")
            return nil
        }
        return RecordedCall(
            action: .create(
                session: tally.number(reply.string("sid")),
                payee: payee,
                amount: amount,
                seconds: 300,
                proposesTaken: false,
                allowsTip: allowsTip
            ),
            began: began,
            ended: .now,
            reply: .init(content: .session(status: .advertising, payer: nil), isRetry: false)
        )
    }

    /// Makes a call, and repeats it at the next of the servers until a reply is definite. All these
    /// calls are idempotent.
    func call(
        _ action: Step.Action,
        through servers: [Int],
        _ patience: Duration? = nil
    ) async -> RecordedCall {
        let began = ContinuousClock.now
        for (index, server) in servers.enumerated() {
            var wire = await fleet.wire(server)
            if index == 0, let patience { wire.timeLimit = patience }
            guard let reply = try? await Self.post(action, wire, users, tally.sids) else {
                continue
            }
            if let recorded = RecordedReply.read(reply, to: action, isRetry: index > 0) {
                return RecordedCall(action: action, began: began, ended: .now, reply: recorded)
            }
            note(reply, "\(action)")
        }
        return RecordedCall(action: action, began: began)
    }

    /// Records an unexpected reply; 503 and 429 mean "try again" and are expected.
    func note(_ reply: WireReply, _ what: String) {
        guard reply.status != 503, reply.status != 429 else { return }
        tally.note("\(what): \(reply.status) \(reply.text)")
    }

    static func post(
        _ action: Step.Action,
        _ wire: Wire,
        _ users: [String],
        _ sids: [String]
    ) async throws -> WireReply {
        switch action {
        case .lock(let session, let user):
            return try await wire.lock(sids[session], by: users[user])
        case .cancel(let session, let user):
            return try await wire.post("/sessions/\(sids[session])/cancel", token: users[user])
        case .send(let session, let user, let key, _, let tip):
            let key = BookedHistory.keyPrefix + "\(key)"
            let more = #","tip_cents":\#(tip)"#
            return try await wire.send(sids[session], by: users[user], key: key, more: more)
        case .refund(let session, let user, let key, let amount):
            return try await wire.post(
                "/sessions/\(sids[session])/refund",
                amount.map { #"{"amount_cents":\#($0)}"# } ?? "{}",
                token: users[user],
                key: BookedHistory.keyPrefix + "\(key)"
            )
        case .shared(let action, let session, let user):
            return try await post(action, sids[session], wire, users[user])
        case .open, .create, .unlock, .rotate, .expire:
            throw NeverHappened(description: "such a call")
        }
    }

    /// Finds the outcome of a call without a reply. Reads the outcome of a payment, and repeats
    /// other calls that have a key.
    ///
    /// - Returns: The call with its reply; `nil` for a payment that was not made and never will be.
    ///   A call without a key is returned unchanged.
    func resolved(_ recorded: RecordedCall) async throws -> RecordedCall? {
        switch recorded.action {
        case .send(let session, let user, let key, _, _),
            .shared(.pay(let key), let session, let user):
            let reply = try await eventually("the outcome of \(recorded)", within: .seconds(60)) {
                try await outcome(of: key, user, for: tally.sids[session])
            }
            guard let reply else { return nil }
            return RecordedCall(
                action: recorded.action,
                began: recorded.began,
                ended: .now,
                reply: reply
            )
        case .refund, .shared(.join, _, _), .shared(.leave, _, _), .shared(.callOff, _, _):
            // The call is repeated with its key.
            var again = try await eventually("the outcome of \(recorded)", within: .seconds(60)) {
                let again = await call(recorded.action, through: [0, 1])
                return again.reply == nil ? nil : again
            }
            again.reply?.isRetry = true
            return RecordedCall(
                action: recorded.action,
                began: recorded.began,
                ended: again.ended,
                reply: again.reply
            )
        case .open, .create, .lock, .unlock, .cancel, .rotate, .expire, .shared: return recorded
        }
    }

    /// Returns the outcome of a payment's key: `nil` if it is not known yet, and an inner `nil` if
    /// the server has none or has one of another session.
    private func outcome(
        of key: Int,
        _ user: Int,
        for sid: String
    ) async throws -> RecordedReply?? {
        let wire = await fleet.wire(key)
        let path = "/wallet/sends/\(BookedHistory.keyPrefix)\(key)"
        guard let reply = try? await wire.get(path, token: users[user]) else { return nil }
        if reply.status == 404 { return .some(nil) }
        guard reply.status == 200 else { return nil }
        // The id of a share begins with the id of its bill.
        guard reply.string("sid").hasPrefix(sid) else { return .some(nil) }
        let action = Step.Action.send(session: 0, user: user, key: key, expected: nil)
        if reply.string("outcome") == "paid" {
            return RecordedReply.read(reply, to: action, isRetry: true)
        }
        guard let code = reply.code.flatMap({ ErrorCode(rawValue: $0) }) else { return nil }
        return RecordedReply.no(code, to: action, again: false).map {
            .init(content: $0, isRetry: true)
        }
    }
}
