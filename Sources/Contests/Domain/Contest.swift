package import GotchuCore
package import Ledger

/// A contest: entrants pay a fee into its pot, and its prizes are paid from the pot.
package struct Contest: Equatable, Sendable {
    /// The stored name of its kind of record.
    package static let kind = "contest"
    /// The delay before an unsettled contest is refunded. It starts at the latest of its last date,
    /// its newest scores and its declared result.
    static let abandonmentDelay: Duration = .seconds(30 * 86_400)
    /// The maximum time by which scores and results postpone that refund. Without it, an organiser
    /// could keep the entrants' fees in the pot for ever.
    static let postponementLimit: Duration = .seconds(60 * 86_400)
    /// The maximum number of entries that a contest may ever have, including those that left.
    package static let joinLimit: Int64 = 100_000
    /// The maximum number of places held at all of its desks at the same time.
    static let holdLimit = 500
    /// The maximum number of times that a user may leave it; afterwards they cannot enter again.
    /// Without this limit, one user could use up all entry numbers.
    static let leaveLimit = 10
    /// The maximum number of open desks.
    static let deskLimit = 16
    /// The number of declarations and disputes after which it cannot be disputed again.
    static let declarationLimit: Int64 = 1_000

    package let id: RecordID
    package let organizer: UserID
    package let createdAt: Timestamp
    package internal(set) var state: State
    /// The version: 1 when made; grows by one with each change.
    package internal(set) var version: Int64
    package internal(set) var body: Body

    /// The states. The raw values are stored.
    package enum State: String, CaseIterable, Sendable {
        case draft, open, locked, live, complete, settled, cancelled
        /// The pot's balance differs from the sum of the entries: no money moves.
        case error
    }

    /// The properties for which the record has no column. Times are in milliseconds.
    package struct Body: Codable, Equatable, Sendable {
        package let terms: ContestTerms
        /// The organiser's name at the time of creation.
        package let organizerName: String
        package internal(set) var updatedAt: Int64
        /// The number of current entries.
        package internal(set) var entryCount: Int64 = 0
        /// The number of the newest entry; entries that left keep theirs.
        package internal(set) var entryNumber: Int64 = 0
        /// The number of the newest score revision; 0 without any.
        package internal(set) var revision: Int64 = 0
        /// The stored size of all score revisions in bytes.
        var scoreBytes: Int64 = 0
        package internal(set) var objections: Int64 = 0
        /// The number of times that a result was declared or disputed.
        package internal(set) var declarations: Int64 = 0
        /// The places held at desks; expired ones stay until the next change.
        package internal(set) var holds: [Hold] = []
        /// The newest desk, and the desks that were open when it was opened.
        var desks: [SessionID] = []
        var publishedAt: Int64?
        /// Its number in the index of public contests; `nil` if it is not listed.
        package internal(set) var listNumber: Int64?
        var completedAt: Int64?
        /// The time of the newest scores, of the result's declaration, or of the check that ended
        /// the state `error`.
        var actedAt: Int64?
        /// The reason of the organiser's dispute; a disputed contest is not settled.
        package internal(set) var dispute: String?
        package internal(set) var cancellation: Cancellation?
        /// The invitation to a private contest, 128 random bits.
        package internal(set) var invitation: String?
        package internal(set) var isDeleted = false
        package internal(set) var settlement: Settlement?
        /// The state before `error`.
        var stateBeforeError: String?
    }

    /// A place at a desk, held for the payer who has locked one of its shares.
    package struct Hold: Codable, Equatable, Sendable {
        let share: SessionID
        let user: UserID
        /// The time at which it expires, in milliseconds.
        let until: Int64

        func isAlive(at time: Timestamp) -> Bool { time.milliseconds < until }
    }

    package var terms: ContestTerms { body.terms }

    /// The time at which its entries are refunded, unless it is settled before. New scores and a
    /// declared result postpone it: 90 days after its last date it ends, whatever was scored.
    var abandonedAt: Timestamp {
        let acted = (body.actedAt ?? body.completedAt).map(Timestamp.init(milliseconds:))
        let latest = terms.lastTime.advanced(by: Self.postponementLimit)
        return min(max(terms.lastTime, acted ?? terms.lastTime), latest)
            .advanced(by: Self.abandonmentDelay)
    }

    /// The time at which it is settled automatically; `nil` unless it is complete and undisputed.
    package var settlesAt: Timestamp? {
        guard state == .complete, body.dispute == nil, let completedAt = body.completedAt else {
            return nil
        }
        return Timestamp(milliseconds: completedAt).advanced(by: terms.review)
    }

    /// The time of its next automatic change.
    var dueAt: Timestamp? {
        switch state {
        case .draft: body.isDeleted ? nil : abandonedAt
        case .live: abandonedAt
        case .open: min(terms.lockTime, abandonedAt)
        case .locked: min(terms.startTime, abandonedAt)
        case .complete: settlesAt ?? abandonedAt
        case .settled, .cancelled, .error: nil
        }
    }

    /// The time of its settlement, and its delay after the end of the review.
    package var settlement: (at: Timestamp, delay: Duration)? {
        guard let settledAt = body.settlement?.settledAt, let completedAt = body.completedAt else {
            return nil
        }
        let due = Timestamp(milliseconds: completedAt).advanced(by: terms.review)
        let time = Timestamp(milliseconds: settledAt)
        return (time, max(.zero, due.duration(to: time)))
    }

    /// Returns the state at `time`: locked or live, if that is due. Only these states are derived
    /// from the time; an end moves money and is a command.
    package func state(at time: Timestamp) -> State {
        var now = state
        if now == .open, time >= terms.lockTime { now = .locked }
        if now == .locked, time >= terms.startTime { now = .live }
        return now
    }

    /// Returns the contest as it is at `time`.
    package func asOf(_ time: Timestamp) -> Contest {
        let now = state(at: time)
        return now == state ? self : changed(to: now, at: time)
    }

    /// Returns the next version, in another state.
    func changed(to state: State, at time: Timestamp) -> Contest {
        changed(at: time) { $0.state = state }
    }

    /// Returns the next version, with a change.
    func changed(at time: Timestamp, _ change: (inout Contest) -> Void) -> Contest {
        var next = self
        change(&next)
        next.version += 1
        next.body.updatedAt = max(time.milliseconds, body.updatedAt)
        next.body.holds.removeAll { !$0.isAlive(at: time) }
        return next
    }
}

extension Contest {
    /// Returns true if a user who has not entered can get a place at `time`, or holds one.
    package func hasPlace(for user: UserID?, at time: Timestamp) -> Bool {
        placesLeft(at: time, for: user) > 0 && body.entryNumber < Self.joinLimit
    }

    /// Returns the number of free places at `time`. Taken places and places held at a desk are not
    /// free.
    ///
    /// - Parameter user: A user whose own hold does not count.
    package func placesLeft(at time: Timestamp, for user: UserID? = nil) -> Int64 {
        let alive = body.holds.filter { $0.isAlive(at: time) && $0.user != user }
        let held = Int64(Set(alive.map(\.user)).count)
        return max(0, terms.maxEntries - body.entryCount - held)
    }
}

extension Contest {
    package var isOver: Bool {
        switch state {
        case .settled, .cancelled: true
        case .draft, .open, .locked, .live, .complete, .error: false
        }
    }

    package var isDisputed: Bool { body.dispute != nil }

    /// Returns true during the time for objections.
    private func isUnderReview(at time: Timestamp) -> Bool { settlesAt.map { time < $0 } ?? false }

    /// Returns true while entrants may object to its result, including while it is disputed.
    package func isOpenToObjections(at time: Timestamp) -> Bool {
        state == .complete && (isDisputed || isUnderReview(at: time))
    }

    /// A Boolean that is true if its scores allow a settlement that has not been made yet.
    package var canBeSettled: Bool { body.revision > 0 && !isOver && state != .error }

    /// The division of the money in its pot.
    package var division: PrizeRules.Division {
        PrizeRules.Division(terms, entries: body.entryCount)
    }

    /// The amount that its pot must hold, in minor units: the fees and the paid part of the prize.
    var expectedPot: Int64 {
        switch state {
        case .settled, .cancelled: 0
        case .draft, .open, .locked, .live, .complete, .error:
            body.entryCount * terms.fee + paidPrize
        }
    }

    /// The part of the added prize that is in the pot: all of it, once the contest is published.
    var paidPrize: Int64 { body.publishedAt == nil ? 0 : terms.addedPrize }

    var pot: Account.Key { Account.Key(.pot(id), terms.currency) }

    func account(of user: UserID) -> Account.Key { Account.Key(.user(user), terms.currency) }

    /// Returns true if a user may not know of it: nobody but its organiser sees a draft.
    package func isHidden(from user: UserID) -> Bool { state == .draft && organizer != user }

    /// Returns true if the contest is public, or if this is its invitation.
    package func admits(_ invitation: String?) -> Bool {
        guard terms.isInviteOnly else { return true }
        guard let own = body.invitation, let invitation else { return false }
        return own == invitation
    }

    /// The reason to refuse an action that needs an open contest; `nil` while it is open.
    package var lockedReason: Refusal.Reason? {
        switch state {
        case .open: nil
        case .draft: .contestState
        case .cancelled: .contestCancelled
        case .locked, .live, .complete, .settled, .error: .contestLocked
        }
    }

    /// The reason why its organiser cannot cancel it; `nil` if they can.
    package var cancelRefusal: Refusal.Reason? {
        switch state {
        case .draft, .open, .locked, .live, .complete, .cancelled: nil
        case .settled, .error: .contestState
        }
    }

    /// Returns the reason why it cannot be settled at `time`; `nil` if it can.
    package func settleRefusal(at time: Timestamp) -> Refusal.Reason? {
        switch state {
        case .settled: nil
        case .complete:
            isDisputed
                ? .contestDisputed : isUnderReview(at: time) ? .contestUnderReview : nil
        case .draft, .open, .locked, .live, .cancelled, .error: .contestState
        }
    }

    /// A Boolean that is true if its newest scores are its declared, undisputed result.
    var isDeclared: Bool { state == .complete && !isDisputed }

    /// Returns the reason why a revision cannot be declared as its result; `nil` if it can.
    package func completeRefusal(at revision: Int64) -> Refusal.Reason? {
        guard body.revision == revision else { return .scoresChanged }
        return switch state {
        // A locked contest becomes live with its first scores.
        case .locked, .live, .complete: revision > 0 ? nil : .noScores
        case .draft, .open, .settled, .cancelled, .error: .contestState
        }
    }

    /// The reason why it accepts no scores; `nil` if it does.
    package var scoreRefusal: Refusal.Reason? {
        switch state {
        case .locked, .live: nil
        case .complete: isDisputed ? nil : .contestState
        case .draft, .open, .settled, .cancelled, .error: .contestState
        }
    }
}
