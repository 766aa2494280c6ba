import GotchuAPI
import GotchuCore

extension PresenceList {
    /// The result of picking the presence to pay.
    enum Pick: Equatable, Sendable {
        case nothing
        case one(PresenceView)
        /// Several are possible, so none is picked: paying the wrong one would cost money.
        case ambiguous([PresenceView])
    }

    /// Picks the only presence with the verdict `tap`. If there is none and `reach` is `near`,
    /// picks the only presence with the verdict `near`.
    ///
    /// A single tap wins over near presences: the daemon gives the verdict `tap` only to the
    /// leader.
    ///
    /// - Parameter isLate: True once the payment server has had time to resolve the near EIDs. If
    ///   it has resolved one, the unresolved ones are then ignored.
    func pick(reach: Reach, isLate: Bool = false) -> Pick {
        let taps = all(.tap)
        if let tap = taps.first { return taps.count == 1 ? .one(tap) : .ambiguous(taps) }
        let ambiguous = all(.ambiguous)
        guard ambiguous.isEmpty else { return .ambiguous(ambiguous) }
        switch reach {
        case .tap: return .nothing
        case .near:
            let near = all(.near)
            let known = near.filter { $0.session != nil }
            let counted = isLate && !known.isEmpty ? known : near
            guard let one = counted.first else { return .nothing }
            let isCertain = counted.count == 1 && (isLate || one.session != nil)
            return isCertain ? .one(one) : .ambiguous(counted)
        }
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
