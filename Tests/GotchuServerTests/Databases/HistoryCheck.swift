import LedgerTestSupport

/// Replays a whole history through the model, in the manner of Jepsen: it must be possible to put
/// all calls in one order, in which a call that was answered stands before every one that began
/// later, and each wallet's payments and refunds stand as its entries are numbered, so that the
/// model, taking them one by one, gives every answer that was given.
///
/// Nearly always some call can be the next without hindering another, and is taken at once. Where
/// there is none, one is tried after the other: neither time nor entries settle whether a payment
/// stands before or after a call that was told how much there was.
struct HistoryCheck {
    /// How often a choice is made before the search is given up.
    private static let longestSearch = 20_000

    private let booked: BookedHistory
    /// The names of sessions, by their numbers.
    private let sids: [String]
    private let deeds: [Deed]
    /// The one that went farthest of those that led nowhere, and what is wrong with it.
    private var farthest: (replay: Replay, complaint: String)?

    private init(_ deeds: [Deed], booked: BookedHistory, sids: [String]) {
        self.deeds = deeds
        self.booked = booked
        self.sids = sids
    }

    /// What is wrong, with all that those had to do with whom it concerns; `nil` if nothing is.
    ///
    /// - Parameters:
    ///   - deeds: All calls that may have done anything.
    ///   - users: How many there are, each with `opening` at first.
    static func complaint(
        about deeds: [Deed],
        booked: BookedHistory,
        sids: [String],
        users: Int,
        opening: Int64
    ) -> String? {
        var deeds = deeds.sorted { $0.began < $1.began }
        for index in deeds.indices { deeds[index].number = index }
        var check = HistoryCheck(deeds, booked: booked, sids: sids)
        return check.search(
            Replay(deeds, booked: booked, sids: sids, users: users, opening: opening)
        )
    }

    private mutating func search(_ start: Replay) -> String? {
        // What is tried next is the last.
        var untried: [(replay: Replay, move: Replay.Move?)] = [(start, nil)]
        var seen: Set<[Int]> = []
        while let next = untried.popLast() {
            var replay = next.replay
            if let move = next.move { replay.take(move) }
            while let safe = replay.safeMove() { replay.take(safe) }
            if replay.rest.isEmpty, end(replay) == nil { return nil }
            guard seen.insert(replay.left).inserted else { continue }
            guard seen.count < Self.longestSearch else {
                return "too many orders to try; \(farthest?.complaint ?? "")"
            }
            let moves = replay.moves()
            if moves.isEmpty { note(replay) }
            untried += moves.reversed().map { (replay, $0) }
        }
        return farthest?.complaint
    }

    private mutating func note(_ replay: Replay) {
        if let farthest, farthest.replay.rest.count <= replay.rest.count { return }
        farthest = (replay, end(replay) ?? stuck(replay))
    }

    private func stuck(_ replay: Replay) -> String {
        let stuck = replay.candidates
        let what = stuck.map { deed in
            let money = deed.action.user.flatMap { replay.model.money[$0] }
            return "\(deed), model \(replay.said(to: deed).reply) with \(money ?? 0)"
        }
        let users = Set(stuck.compactMap(\.action.user))
        return "no order explains: \(what.joined(separator: "; "))\n\(story(of: users))"
    }

    /// All that some users did, and what was done with their sessions, a line for each call.
    private func story(of users: Set<Int>) -> String {
        func concerns(_ deed: Deed) -> Bool { deed.action.user.map(users.contains) ?? false }
        let sessions = Set(deeds.filter(concerns).compactMap(\.action.session))
        let start = deeds.first?.began
        return deeds.filter { $0.action.session.map(sessions.contains) ?? false }
            .map { deed in
                let times = [deed.began, deed.ended].map { time in
                    guard let time, let start else { return "?" }
                    return "\((time - start) / .milliseconds(1))"
                }
                return "\(times[0])-\(times[1]) ms: \(deed)"
            }
            .joined(separator: "\n")
    }

    /// What the books hold in the end must be what the model does.
    private func end(_ replay: Replay) -> String? {
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
        for (number, deal) in replay.model.deals {
            guard number < sids.count, let session = booked.sessions[sids[number]] else {
                return "session \(number) is gone"
            }
            let isPaid = deal.mark == "p"
            guard (session.status == "PAID") == isPaid, session.refunded == deal.refunded,
                !isPaid || session.payer == deal.holder,
                deal.mark != "c" || session.status == "CANCEL"
            else { return "session \(number) is \(session), model \(deal)" }
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
