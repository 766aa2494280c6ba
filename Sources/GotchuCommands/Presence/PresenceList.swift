import GotchuAPI
import GotchuCore

/// The presences heard now, updated from the daemon's events. Reports the changes that a person
/// should see.
struct PresenceList: Sendable {
    /// A change that a person should see.
    enum Change: Equatable, Sendable {
        /// The presence is new, or its verdict or its session (amount, payee) changed.
        case seen(PresenceView)
        case lost(EID)
    }

    private(set) var presences: [EID: PresenceView] = [:]
    /// The reason why nothing can be heard now; `nil` if there is none.
    private(set) var receptionProblem: HealthItem?
    /// The verdicts that are shown.
    let wanted: Set<Verdict>

    init(wanted: Set<Verdict> = Set(Verdict.allCases)) {
        self.wanted = wanted
    }

    /// The presences with a wanted verdict, sorted by the verdict's rank, then strongest first.
    var sorted: [PresenceView] {
        presences.values.filter { wanted.contains($0.verdict) }.sorted { left, right in
            let order = (left.verdict.rank, right.verdict.rank)
            if order.0 != order.1 { return order.0 < order.1 }
            let level = (left.level, right.level)
            return level.0 == level.1 ? left.eid < right.eid : level.0 > level.1
        }
    }

    /// Applies an event and returns the changes that a person should see.
    mutating func apply(_ event: Event) -> [Change] {
        switch event {
        case .snapshot(let snapshot):
            receptionProblem = snapshot.status.receptionProblem
            let now = Dictionary(
                snapshot.sessions.map { ($0.eid, $0) },
                uniquingKeysWith: { $1 }
            )
            let gone = presences.keys.filter { now[$0] == nil }.sorted()
            return gone.flatMap { remove($0) }
                + snapshot.sessions.flatMap { update($0) }
        case .presenceChanged(let presence): return update(presence)
        case .presenceLost(let eid): return remove(eid)
        case .statusChanged(let status):
            receptionProblem = status.receptionProblem
            return []
        case .requestChanged, .paymentChanged, .lagged: return []
        }
    }

    private mutating func update(_ presence: PresenceView) -> [Change] {
        let before = presences.updateValue(presence, forKey: presence.eid)
        let isChanged =
            before?.verdict != presence.verdict || before?.session != presence.session
        let wasShown = before.map { wanted.contains($0.verdict) } ?? false
        guard wanted.contains(presence.verdict) else {
            return wasShown ? [.lost(presence.eid)] : []
        }
        return isChanged ? [.seen(presence)] : []
    }

    private mutating func remove(_ eid: EID) -> [Change] {
        guard let before = presences.removeValue(forKey: eid), wanted.contains(before.verdict)
        else { return [] }
        return [.lost(eid)]
    }
}

extension Verdict {
    /// The verdict's position in a list, from `tap` to `far`.
    var rank: Int {
        switch self {
        case .tap: 0
        case .near: 1
        case .ambiguous: 2
        case .far: 3
        }
    }

    var style: TextStyle? {
        switch self {
        case .tap: .green
        case .near: .yellow
        case .ambiguous: .red
        case .far: .dim
        }
    }
}

extension PresenceView {
    /// The level to sort by, in dBm; an unknown level sorts as farthest.
    var level: Double { smoothedDBm ?? rssiDBm.map(Double.init) ?? -.infinity }
}
