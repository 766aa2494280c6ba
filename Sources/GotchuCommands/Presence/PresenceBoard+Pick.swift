import GotchuAPI
import GotchuCore

extension PresenceBoard {
    /// Which presence a person means who holds this device somewhere.
    enum Pick: Equatable, Sendable {
        case nothing
        case one(PresenceView)
        /// More than one could be meant, so none is: the wrong one would cost somebody money.
        case ambiguous
    }

    /// Picks the only presence at tap distance, or with `reach` near, the only one within reach.
    ///
    /// A single tap wins over others that are near: the daemon says tap only of one that leads.
    func pick(reach: Reach) -> Pick {
        func all(_ verdict: Verdict) -> [PresenceView] {
            presences.values.filter { $0.verdict == verdict }
        }
        let taps = all(.tap)
        if let tap = taps.first { return taps.count == 1 ? .one(tap) : .ambiguous }
        guard all(.ambiguous).isEmpty else { return .ambiguous }
        switch reach {
        case .tap: return .nothing
        case .near:
            let near = all(.near)
            guard let one = near.first else { return .nothing }
            return near.count == 1 ? .one(one) : .ambiguous
        }
    }

    /// How near is near enough to pay.
    enum Reach: Sendable {
        case tap, near

        /// What the daemon is asked to make sure of at the moment of paying.
        var verdict: Verdict {
            switch self {
            case .tap: .tap
            case .near: .near
            }
        }
    }
}
