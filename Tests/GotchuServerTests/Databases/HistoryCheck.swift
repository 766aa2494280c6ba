import LedgerTestSupport

/// Searches for an order of all calls in which the model gives each call the recorded reply, as
/// Jepsen does. In this order, a call comes after every call whose reply arrived before its start.
/// The payments and refunds of a wallet are in the order of the entries' numbers.
///
/// The search adds a call to the order at once if the call does not change the reply to any other
/// remaining call. Nearly always there is such a call. Otherwise the search tries each candidate:
/// times and entries do not show if a payment comes before or after a call whose reply has the
/// balance.
struct HistoryCheck {
    /// The number of states after which the search gives up and returns a complaint.
    private static let longestSearch = 20_000

    private let booked: BookedHistory
    /// The ids of sessions, bills and contests; the index of an id is its number.
    private let sids: [String]
    private let history: [RecordedCall]
    /// The failed order with the most calls, and the reason why it failed.
    private var farthest: (replay: Replay, complaint: String)?

    private init(_ calls: [RecordedCall], booked: BookedHistory, sids: [String]) {
        history = calls
        self.booked = booked
        self.sids = sids
    }

    /// Returns `nil` if there is a valid order. Otherwise returns the contradiction at the end of
    /// the failed order with the most calls, and all related calls of the users concerned.
    ///
    /// - Parameters:
    ///   - calls: All calls that may have had an effect.
    ///   - users: The number of users. The first balance of each is `opening`.
    static func complaint(
        about calls: [RecordedCall],
        booked: BookedHistory,
        sids: [String],
        users: Int,
        opening: Int64
    ) -> String? {
        var calls = calls.sorted { $0.began < $1.began }
        for index in calls.indices { calls[index].number = index }
        var check = HistoryCheck(calls, booked: booked, sids: sids)
        return check.search(
            Replay(calls, booked: booked, sids: sids, users: users, opening: opening)
        )
    }

    private mutating func search(_ start: Replay) -> String? {
        // Depth-first search: the last element of the array is tried next.
        var untried: [(replay: Replay, move: Replay.Move?)] = [(start, nil)]
        var seen: Set<[Int]> = []
        while let next = untried.popLast() {
            var replay = next.replay
            if let move = next.move { replay.apply(move) }
            while let safe = replay.safeMove() { replay.apply(safe) }
            if replay.rest.isEmpty, finalDifference(replay) == nil { return nil }
            guard seen.insert(replay.left).inserted else { continue }
            guard seen.count < Self.longestSearch else {
                return "too many orders to try; \(farthest?.complaint ?? "")"
            }
            let moves = replay.moves()
            if moves.isEmpty { keepLongest(replay) }
            untried += moves.reversed().map { (replay, $0) }
        }
        return farthest?.complaint
    }

    private mutating func keepLongest(_ replay: Replay) {
        if let farthest, farthest.replay.rest.count <= replay.rest.count { return }
        farthest = (replay, finalDifference(replay) ?? describeFailure(of: replay))
    }

    private func describeFailure(of replay: Replay) -> String {
        let stuck = replay.candidates
        let what = stuck.map { call in
            let money = call.action.user.flatMap { replay.model.money[$0] }
            return "\(call), model \(replay.modelReply(to: call).reply) with \(money ?? 0)"
        }
        let users = Set(stuck.compactMap(\.action.user))
        let text = describeCalls(of: users)
        return "no order explains: \(what.joined(separator: "; "))\n\(text)"
    }

    /// Returns one line for each call on a session that one of the users has made a call on.
    private func describeCalls(of users: Set<Int>) -> String {
        func concerns(_ call: RecordedCall) -> Bool {
            call.action.user.map(users.contains) ?? false
        }
        let sessions = Set(history.filter(concerns).compactMap(\.action.session))
        let start = history.first?.began
        return history.filter { $0.action.session.map(sessions.contains) ?? false }
            .map { call in
                let times = [call.began, call.ended].map { time in
                    guard let time, let start else { return "?" }
                    return "\((time - start) / .milliseconds(1))"
                }
                return "\(times[0])-\(times[1]) ms: \(call)"
            }
            .joined(separator: "\n")
    }

    /// Returns the first difference between the database and the model after all calls; `nil` if
    /// there is none, or if calls with a reply remain.
    private func finalDifference(_ replay: Replay) -> String? {
        guard replay.rest.isEmpty else { return nil }
        for (user, entries) in booked.entries {
            let explained = replay.explained[user, default: 0]
            if explained < entries.count {
                return "user \(user): nobody asked for \(entries[explained])"
            }
        }
        for (user, money) in replay.model.money where booked.balances[user] != money {
            return "user \(user) has \(booked.balances[user] ?? -1), model \(money)"
        }
        for (number, expected) in replay.model.sessions {
            guard number < sids.count, let session = booked.sessions[sids[number]] else {
                return "session \(number) is gone"
            }
            let isPaid = expected.status == .paid
            guard (session.status == "PAID") == isPaid, session.refunded == expected.refunded,
                !isPaid || session.payer == expected.payer,
                expected.status != .cancelled || session.status == "CANCEL"
            else { return "session \(number) is \(session), model \(expected)" }
        }
        for (number, shared) in replay.model.shared {
            guard number < sids.count, let status = booked.sessions[sids[number]]?.status else {
                return "what is shared as \(number) is gone"
            }
            let isPaid = !shared.isContest && status == "PAID"
            guard isPaid == shared.isPaid,
                !shared.isCancelled || ["CANCEL", "cancelled"].contains(status)
            else { return "what is shared as \(number) is \(status), model \(shared)" }
        }
        return nil
    }
}
