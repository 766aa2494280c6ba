/// The belief about one EID nearby.
package struct Presence: Sendable {
    package let eid: EID
    package let firstHeard: MonotonicTime
    package private(set) var lastHeard: MonotonicTime
    package private(set) var carrier: Sighting.Carrier

    /// The adapter that hears it best.
    package private(set) var adapter: String

    /// The time between advertisements as learnt so far; `nil` after a single one.
    package private(set) var interval: Duration?

    /// The verdict, which also depends on who else is there: set by the board.
    package internal(set) var verdict: Verdict = .far

    private var filters: [String: LevelFilter] = [:]
    private var tapGate = ZoneGate()
    private var nearGate = ZoneGate()
    private var policy: ProximityPolicy

    /// How many adapters' levels are kept for one EID.
    private static let adapterLimit = 4

    init(first sighting: Sighting, policy: ProximityPolicy) {
        eid = sighting.eid
        firstHeard = sighting.time
        lastHeard = sighting.time
        carrier = sighting.carrier
        adapter = sighting.adapter
        self.policy = policy
        addLevel(of: sighting)
    }

    /// The filtered level in dBm at the adapter that hears it best; `nil` while no level was given.
    package private(set) var level: Double?

    /// The last measurement there.
    package private(set) var lastRSSI: RSSI?

    /// Advertisements per second, lately; 0 after a single one.
    package var rate: Double {
        guard let interval, interval > .zero else { return 0 }
        return 1 / interval.inSeconds
    }

    /// Where it stands by its own level alone.
    var zone: Zone {
        if level == nil, policy.acceptsUnknownRSSI { return .tap }
        if tapGate.isInside { return .tap }
        return nearGate.isInside ? .near : .far
    }

    /// The thresholds it is held against.
    var tapThresholds: ProximityPolicy.Thresholds { policy.tap(on: adapter) }
    var nearThresholds: ProximityPolicy.Thresholds { policy.near(on: adapter) }

    /// Whether they were measured with this adapter.
    var isCalibrated: Bool { policy.calibrations[adapter] != nil }

    /// When it counts as gone if nothing more is heard.
    package var silentAfter: MonotonicTime {
        let learnt = (interval ?? .zero) * policy.silentIntervals
        return lastHeard + min(policy.maximumSilence, max(policy.minimumSilence, learnt))
    }

    /// Judges by other numbers from the next sighting on.
    mutating func use(_ policy: ProximityPolicy) { self.policy = policy }

    mutating func add(_ sighting: Sighting) {
        let gap = sighting.time - lastHeard
        if gap > .zero {
            interval = interval.map { $0 + (gap - $0) / 4 } ?? gap
        }
        lastHeard = max(lastHeard, sighting.time)
        carrier = sighting.carrier
        addLevel(of: sighting)
    }

    mutating func advance(to now: MonotonicTime) {
        tapGate.advance(to: now, policy: policy)
        nearGate.advance(to: now, policy: policy)
    }

    private mutating func addLevel(of sighting: Sighting) {
        guard let rssi = sighting.rssi,
            filters[sighting.adapter] != nil || filters.count < Self.adapterLimit
        else { return }
        filters[sighting.adapter, default: LevelFilter()]
            .add(rssi, at: sighting.time, timeConstant: policy.timeConstant)
        adapter = sighting.adapter
        if filters.count > 1 { chooseAdapter(at: sighting.time) }
        level = filters[adapter]?.level
        lastRSSI = filters[adapter]?.lastRSSI
        guard let level else { return }
        tapGate.add(level: level, at: sighting.time, thresholds: tapThresholds, policy: policy)
        nearGate.add(level: level, at: sighting.time, thresholds: nearThresholds, policy: policy)
    }

    private mutating func chooseAdapter(at time: MonotonicTime) {
        // An adapter that stopped hearing it must not keep it near with its last level.
        filters = filters.filter { _, filter in
            filter.lastTime.map { time - $0 < policy.minimumSilence } ?? false
        }
        let best = filters.max { ($0.value.level ?? -.infinity) < ($1.value.level ?? -.infinity) }
        if let best { adapter = best.key }
    }

    /// A presence's distance by its own level.
    enum Zone: Int, Comparable, Sendable {
        case far, near, tap

        static func < (left: Zone, right: Zone) -> Bool { left.rawValue < right.rawValue }
    }
}
