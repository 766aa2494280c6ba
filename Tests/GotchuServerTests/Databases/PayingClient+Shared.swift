import Foundation
import LedgerTestSupport
import TestSupport

/// Calls on bills and contests. Several users pay at the same time, often more users than places.
extension PayingClient {
    /// Runs the calls on one bill or contest.
    ///
    /// - Parameter scenario: The kind: 0 or 1 for a contest, 2 for an all-or-nothing bill, 3 for
    ///   another bill.
    func share(
        _ history: inout [RecordedCall],
        _ scenario: Int,
        _ owner: Int,
        _ price: Int64,
        _ servers: [Int],
        _ generator: inout SeededGenerator
    ) async {
        let places = Int.random(in: 2...3, using: &generator)
        let isContest = scenario < 2
        let action: SharedAction =
            isContest
            ? .contest(fee: price, places: places)
            : .bill(share: price, places: places, isPooled: scenario == 2)
        guard let opened = await open(action, owner, through: servers[0]),
            let session = opened.action.session
        else { return }
        history.append(opened)
        let count = users.count - payees
        let guests = (0...places).map { payees + (number - payees + $0) % count }
        func act(_ action: SharedAction, _ user: Int) -> Step.Action {
            .shared(action, session: session, user: user)
        }
        let isEnded = Bool.random(using: &generator)
        if isContest {
            var calls = guests.map { act(.join(key: tally.nextKey()), $0) }
            if scenario == 0, isEnded { calls.append(act(.callOff(key: tally.nextKey()), owner)) }
            history += await callAll(calls, through: servers)
            history += await callAll(
                [act(.leave(key: tally.nextKey()), guests[0])]
                    + guests.suffix(2).map { act(.join(key: tally.nextKey()), $0) },
                through: servers
            )
            guard isEnded else { return }
            let ends = (0..<2).map { _ in act(.callOff(key: tally.nextKey()), owner) }
            history += await callAll(ends, through: servers)
        } else {
            // A bill that its owner closes gets fewer payers than places.
            let payers = guests.prefix(isEnded ? places - 1 : guests.count)
            let claims = await callAll(payers.map { act(.claim, $0) }, through: servers)
            history += claims
            let calls = claims.compactMap { claim -> Step.Action? in
                guard let user = claim.action.user,
                    claim.reply?.content == .session(status: .locked, payer: user)
                else { return nil }
                return act(.pay(key: tally.nextKey()), user)
            }
            let ends = isEnded ? [act(.close, owner)] : []
            let paid = await callAll(calls + ends, through: servers)
            history += paid
            for call in paid {
                if case .paid = call.reply?.content { tally.countPaid() }
            }
            history += await callAll(ends, through: servers)
        }
    }

    /// Opens a bill or a contest. Returns `nil` without a successful reply, because no client then
    /// knows the id.
    private func open(
        _ action: SharedAction,
        _ owner: Int,
        through server: Int
    ) async -> RecordedCall? {
        let began = ContinuousClock.now
        let wire = await fleet.wire(server)
        guard let reply = try? await Self.open(action, users[owner], wire) else { return nil }
        guard reply.status == 200 else {
            note(reply, "\(action)")
            return nil
        }
        let name = reply.string("sid").isEmpty ? reply.string("id") : reply.string("sid")
        return RecordedCall(
            action: .shared(action, session: tally.number(name), user: owner),
            began: began,
            ended: .now,
            reply: .init(content: .session(status: .advertising, payer: nil), isRetry: false)
        )
    }

    private static func open(
        _ action: SharedAction,
        _ token: String,
        _ wire: Wire
    ) async throws -> WireReply {
        switch action {
        case .bill(let share, let places, let isPooled):
            let more = #","kind":"split","shares":\#(places),"is_all_or_nothing":\#(isPooled)"#
            return try await wire.create(token, cents: Int(share) * places, more: more)
        case .contest(let fee, let places):
            let body = ContestRig.body(
                fee: Int(fee),
                lockIn: .seconds(600),
                more: #","max_entries":\#(places)"#
            )
            let key = ContestRig.key()
            let made = try await wire.post("/api/contests", body, token: token, key: key)
            guard made.status == 200 else { return made }
            let path = "/api/contests/\(made.string("id"))/publish"
            return try await wire.post(path, "{}", token: token, key: ContestRig.key())
        case .claim, .pay, .close, .join, .leave, .callOff:
            throw NeverHappened(description: "such a beginning")
        }
    }

    static func post(
        _ action: SharedAction,
        _ name: String,
        _ wire: Wire,
        _ token: String
    ) async throws -> WireReply {
        let key = action.key.map { BookedHistory.keyPrefix + "\($0)" }
        func contest(_ call: String, _ body: String = "{}") async throws -> WireReply {
            // The path with the first clients' field names requires no fee in the body.
            let place = call == "join" ? "custom-contests" : "contests"
            let path = "/api/\(place)/\(name)/\(call)"
            return try await wire.post(path, body, token: token, key: key)
        }
        switch action {
        case .claim: return try await wire.lock(name, by: token)
        case .pay: return try await wire.send(name, by: token, key: key ?? "")
        case .close: return try await wire.post("/sessions/\(name)/cancel", token: token)
        case .join: return try await contest("join")
        case .leave: return try await contest("leave")
        case .callOff: return try await contest("cancel", #"{"reason":"Rain."}"#)
        case .bill, .contest: throw NeverHappened(description: "such a call")
        }
    }
}
