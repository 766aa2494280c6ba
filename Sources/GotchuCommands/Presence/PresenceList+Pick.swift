import GotchuAPI
import GotchuCore

extension PresenceList {
    /// The result of picking the presence to pay.
    enum Pick: Equatable, Sendable {
        case nothing
        case one(PresenceView)
        /// None is picked, because paying the wrong one would cost money: several are possible, or
        /// the payment server has not answered about the only one.
        case ambiguous([PresenceView])
    }

    /// Picks the only presence with the verdict `tap`. If there is none and `reach` is `near`,
    /// picks the only presence with the verdict `near`.
    ///
    /// A single tap wins over near presences: the daemon gives the verdict `tap` only to the
    /// leader. A presence without a session is not left out: it may be the one that is meant. Once
    /// the payment server says that it knows no session of it, its verdict is `far`.
    func pick(reach: Reach) -> Pick {
        let verdicts: [Verdict] = reach == .tap ? [.tap, .ambiguous] : [.tap, .ambiguous, .near]
        guard let found = verdicts.lazy.map(all).first(where: { !$0.isEmpty }) else {
            return .nothing
        }
        let isCertain = found.count == 1 && found[0].verdict != .ambiguous
        return isCertain && found[0].session != nil ? .one(found[0]) : .ambiguous(found)
    }

    /// Returns the presences with a verdict, strongest first. If a session is heard with two EIDs,
    /// because it changes its EID, only the newer presence is returned.
    private func all(_ verdict: Verdict) -> [PresenceView] {
        var found: [PresenceView] = []
        let newestFirst = presences.values.sorted { $0.firstHeardAt > $1.firstHeardAt }
        for presence in newestFirst where presence.verdict == verdict {
            let isKnown = found.contains {
                $0.session != nil && $0.session?.sid == presence.session?.sid
            }
            if !isKnown { found.append(presence) }
        }
        return found.sorted { ($0.level, $1.eid) > ($1.level, $0.eid) }
    }

    /// The distance at which a request may be paid.
    enum Reach: Sendable {
        case tap, near

        /// The verdict that the daemon requires when it makes the payment.
        var verdict: Verdict {
            switch self {
            case .tap: .tap
            case .near: .near
            }
        }
    }
}
