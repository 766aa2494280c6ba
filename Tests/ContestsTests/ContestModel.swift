import GotchuCore
import Ledger

@testable import Contests

/// A second, simpler implementation of a contest's rules; random histories are checked against it.
struct ContestModel {
    let terms: ContestTerms
    var state = Contest.State.draft
    var isDisputed = false
    var completedAt: Timestamp?
    var revision: Int64 = 0
    /// The entry numbers by user, and the points by entry number.
    var entries: [Int: Int64] = [:]
    var points: [Int64: Int64] = [:]
    var last: Int64 = 0
    /// The users who have objected to the newest result.
    var objectors: Set<Int> = []
    /// Booleans that are true once the desk was opened, and once a lock or a cancellation closed
    /// the desk before the lock time.
    var hasDesk = false
    var isDeskClosed = false
    /// The times at which the users' holds end: `claims` for the locks at the desk, `holds` for the
    /// places that the contest reserves.
    var claims: [Int: Timestamp] = [:]
    var holds: [Int: Timestamp] = [:]
    var balances: [Int: Int64]
    var pot: Int64 = 0
    var take: Int64 = 0

    static let organizer = 0

    init(_ terms: ContestTerms, users: Int, opening: Int64) {
        self.terms = terms
        balances = Dictionary(uniqueKeysWithValues: (0..<users).map { ($0, opening) })
    }

    enum Action {
        case publish(by: Int)
        case join(Int, fee: Int64?)
        case leave(Int)
        case lock(by: Int)
        case score(by: Int, base: Int64, [(Int64, Int64?)])
        case complete(by: Int, revision: Int64)
        case dispute(by: Int)
        case object(Int)
        case settle(by: Int)
        case cancel(by: Int)
        case sweep
        case openDesk(by: Int)
        case hold(Int)
        case unhold(Int)
        case pay(Int)

        /// The user who names the contest, and not its desk.
        fileprivate var caller: Int? {
            switch self {
            case .publish(let user), .join(let user, _), .leave(let user), .lock(let user),
                .score(let user, _, _), .complete(let user, _), .dispute(let user),
                .object(let user), .settle(let user), .cancel(let user), .openDesk(let user):
                user
            case .sweep, .hold, .unhold, .pay: nil
            }
        }
    }

    mutating func pass(to time: Timestamp) {
        if state == .open, time >= terms.lockTime { state = .locked }
        if state == .locked, time >= terms.startTime { state = .live }
        claims = claims.filter { $0.value > time }
        holds = holds.filter { $0.value > time }
    }

    /// - Returns: The reason of the refusal; `nil` if the action is accepted.
    mutating func apply(_ action: Action, at time: Timestamp) -> Refusal.Reason? {
        // A refusal changes nothing. Even the changes due to the passage of time are undone.
        let before = self
        pass(to: time)
        let reason = decide(action, at: time)
        if reason != nil { self = before }
        return reason
    }

    private mutating func decide(_ action: Action, at time: Timestamp) -> Refusal.Reason? {
        if state == .draft, action.caller ?? Self.organizer != Self.organizer {
            return .unknownContest
        }
        switch action {
        case .publish(let user):
            if user != Self.organizer { return .notOrganizer }
            if state != .draft || time >= terms.lockTime { return .contestState }
            if balances[user, default: 0] < terms.addedPrize { return .insufficientBalance }
            balances[user, default: 0] -= terms.addedPrize
            pot += terms.addedPrize
            state = .open
        case .join(let user, let fee): return join(user, fee)
        case .leave(let user):
            guard let number = entries[user] else { return .notJoined }
            if let reason = closed { return reason }
            entries[user] = nil
            points[number] = nil
            pot -= terms.fee
            balances[user, default: 0] += terms.fee
        case .lock(let user):
            if user != Self.organizer { return .notOrganizer }
            if state == .locked { return nil }
            if state != .open { return .contestState }
            state = .locked
            closeDesk(at: time)
        case .score(let user, let base, let scores): return score(user, base, scores)
        case .complete(let user, let seen): return complete(user, seen, at: time)
        case .dispute(let user):
            if user != Self.organizer { return .notOrganizer }
            if state != .complete { return .contestState }
            isDisputed = true
        case .object(let user): return object(user, at: time)
        case .settle(let user): return settle(user, at: time)
        case .cancel(let user):
            if user != Self.organizer { return .notOrganizer }
            if state == .cancelled { return nil }
            if state == .settled { return .contestState }
            cancel()
            closeDesk(at: time)
        case .sweep: sweep(at: time)
        case .openDesk(let user):
            if user != Self.organizer { return .notOrganizer }
            if let closed { return closed }
            hasDesk = true
        case .hold(let user), .unhold(let user), .pay(let user):
            if user == Self.organizer, !isUnhold(action) { return .ownSession }
            if isDeskClosed { return closed }
            if time >= terms.lockTime { return .sessionExpired }
            return atDesk(action, user, at: time)
        }
        return nil
    }

    private mutating func score(
        _ user: Int,
        _ base: Int64,
        _ scores: [(Int64, Int64?)]
    ) -> Refusal.Reason? {
        if user != Self.organizer { return .notOrganizer }
        if base != revision { return .scoresChanged }
        let mayScore = state == .locked || state == .live || (state == .complete && isDisputed)
        if !mayScore { return .contestState }
        revision += 1
        objectors = []
        for (number, value) in scores { points[number] = value }
        (state, isDisputed, completedAt) = (.live, false, nil)
        return nil
    }

    private mutating func settle(_ user: Int, at time: Timestamp) -> Refusal.Reason? {
        if user != Self.organizer { return .notOrganizer }
        if state == .settled { return nil }
        if isDisputed { return .contestDisputed }
        if state != .complete { return .contestState }
        if let completedAt, time < completedAt.advanced(by: terms.review) {
            return .contestUnderReview
        }
        settle()
        return nil
    }

    private mutating func closeDesk(at time: Timestamp) {
        if hasDesk, time < terms.lockTime { isDeskClosed = true }
        claims = [:]
    }

    private func isUnhold(_ action: Action) -> Bool {
        if case .unhold = action { true } else { false }
    }

    private mutating func atDesk(
        _ action: Action,
        _ user: Int,
        at time: Timestamp
    ) -> Refusal.Reason? {
        if case .hold = action {
            if claims[user] != nil { return nil }
            if let reason = noPlace(for: user) { return reason }
            if claims.count >= terms.maxEntries { return .sessionBusy }
            claims[user] = min(time.advanced(by: .seconds(60)), terms.lockTime)
            holds[user] = claims[user]
            return nil
        }
        if claims[user] == nil { return .sessionNotLocked }
        if case .pay = action {
            if let reason = noPlace(for: user) ?? enter(user) { return reason }
        }
        claims[user] = nil
        holds[user] = nil
        return nil
    }

    private func noPlace(for user: Int, seeing fee: Int64? = nil) -> Refusal.Reason? {
        if let closed { return closed }
        if entries[user] != nil { return .alreadyJoined }
        if let fee, fee != terms.fee { return .amountChanged }
        let others = holds.keys.count { $0 != user }
        return entries.count + others >= terms.maxEntries ? .contestFull : nil
    }

    private var closed: Refusal.Reason? {
        switch state {
        case .open: nil
        case .draft: .contestState
        case .cancelled: .contestCancelled
        default: .contestLocked
        }
    }

    private mutating func join(_ user: Int, _ fee: Int64?) -> Refusal.Reason? {
        if user == Self.organizer { return .ownContest }
        return noPlace(for: user, seeing: fee) ?? enter(user)
    }

    private mutating func enter(_ user: Int) -> Refusal.Reason? {
        if balances[user, default: 0] < terms.fee { return .insufficientBalance }
        balances[user, default: 0] -= terms.fee
        pot += terms.fee
        last += 1
        entries[user] = last
        holds[user] = nil
        return nil
    }

    private mutating func complete(
        _ user: Int,
        _ seen: Int64,
        at time: Timestamp
    ) -> Refusal.Reason? {
        if user != Self.organizer { return .notOrganizer }
        if seen != revision { return .scoresChanged }
        if state == .complete, !isDisputed { return nil }
        if state == .locked { return .noScores }
        if state != .live, state != .complete { return .contestState }
        if !entries.values.contains(where: { points[$0] != nil }) { return .noScores }
        (state, isDisputed, completedAt) = (.complete, false, time)
        return nil
    }

    private mutating func object(_ user: Int, at time: Timestamp) -> Refusal.Reason? {
        if entries[user] == nil { return .notEntrant }
        if state != .complete { return .contestState }
        if !isDisputed, let completedAt, time >= completedAt.advanced(by: terms.review) {
            return .contestState
        }
        return objectors.insert(user).inserted ? nil : .contestState
    }

    private mutating func sweep(at time: Timestamp) {
        guard state != .settled, state != .cancelled else { return }
        if state == .complete, !isDisputed, let completedAt,
            time >= completedAt.advanced(by: terms.review)
        {
            settle()
        }
    }

    /// Pays the prizes. Each tier of the tests' terms covers one rank.
    private mutating func settle() {
        let fees = Int64(entries.count) * terms.fee
        let rake = fees * terms.rakeBPS / 10_000
        let commission = rake * terms.commissionBPS / 10_000
        let ranked = entries.filter { points[$0.value] != nil }
            .sorted {
                (-points[$0.value, default: 0], $0.value) < (
                    -points[$1.value, default: 0], $1.value
                )
            }
        let pool = fees + terms.addedPrize - rake
        let weights = terms.tiers.map(\.shareBPS).prefix(ranked.count)
        let sum = weights.reduce(0, +)
        var prizes = weights.map { pool * $0 / sum }
        let order = weights.indices.sorted {
            (-(pool * weights[$0] % sum), $0) < (-(pool * weights[$1] % sum), $1)
        }
        for index in order.prefix(Int(pool - prizes.reduce(0, +))) { prizes[index] += 1 }
        prizes += [Int64](repeating: 0, count: ranked.count - prizes.count)
        var first = 0
        while first < ranked.count {
            var end = first + 1
            while end < ranked.count, points[ranked[end].value] == points[ranked[first].value] {
                end += 1
            }
            let shared = prizes[first..<end].reduce(0, +)
            let count = Int64(end - first)
            for index in first..<end {
                let odd = Int64(index - first) < shared % count ? Int64(1) : 0
                balances[ranked[index].key, default: 0] += shared / count + odd
            }
            first = end
        }
        balances[Self.organizer, default: 0] += rake - commission
        take += commission
        pot = 0
        state = .settled
    }

    private mutating func cancel() {
        for user in entries.keys { balances[user, default: 0] += terms.fee }
        if state != .draft { balances[Self.organizer, default: 0] += terms.addedPrize }
        pot = 0
        (state, isDisputed) = (.cancelled, false)
    }
}
