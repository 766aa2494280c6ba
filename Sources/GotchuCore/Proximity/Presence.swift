/// The state of one EID nearby.
package struct Presence: Sendable {
    package let eid: EID
    package let firstHeard: MonotonicTime
    package private(set) var lastHeard: MonotonicTime
    package private(set) var carrier: Sighting.Carrier

    /// The adapter that hears it best.
    package private(set) var adapter: String

    /// The smoothed time between advertisements; `nil` after a single one.
    package private(set) var interval: Duration?

    /// The verdict. Set by the board, because it also depends on other presences.
    package internal(set) var verdict: Verdict = .far

    /// The payment server's answer about the EID.
    var resolution: Resolution

    /// The payment server's answer about an EID.
    package enum Resolution: Equatable, Sendable {
        /// No answer yet.
        case unknown
        /// Nothing to pay: the session does not exist, or is paid, cancelled or expired. Such an
        /// EID is never picked for a payment.
        case noSession
        /// An open session. A session changes its EID from time to time; for a short time, both
        /// EIDs are heard.
        case session(SessionID)
    }

    /// The level filter of each adapter that hears it; usually one.
    private var filters: [(adapter: String, filter: LevelFilter)] = []
    private var policy: ProximityPolicy

    /// The maximum number of adapters whose levels are kept for one EID.
    private static let adapterLimit = 4

    init(first sighting: Sighting, _ resolution: Resolution, policy: ProximityPolicy) {
        eid = sighting.eid
        self.resolution = resolution
        firstHeard = sighting.time
        lastHeard = sighting.time
        carrier = sighting.carrier
        adapter = sighting.adapter
        self.policy = policy
        removalDue = sighting.time
        updateRemovalDue()
        zone = policy.acceptsUnknownRSSI ? .tap : .far
        addLevel(of: sighting)
    }

    /// The filtered level in dBm at the adapter that hears it best; `nil` if none was reported.
    package private(set) var level: Double?

    /// The level by which it is ranked against others; `nil` if it is not ranked. An unknown level
    /// that counts as held against the device ranks above all others.
    var rankingLevel: Double? {
        guard resolution != .noSession else { return nil }
        return level ?? (policy.acceptsUnknownRSSI ? Self.acceptedLevel : nil)
    }

    /// A level in dBm above every RSSI.
    private static let acceptedLevel = 21.0

    /// The last RSSI at that adapter.
    package private(set) var lastRSSI: RSSI?

    /// The log odds in nats that it is held against the device, and while it is far, that it is
    /// near, by its own level alone; `nil` if no level was reported. Within ± `certainty`.
    package private(set) var odds: Double?

    /// The recent advertisements per second; 0 after a single one.
    package var rate: Double {
        guard let interval, interval > .zero else { return 0 }
        return 1 / interval.inSeconds
    }

    /// The zone by its own level alone. Stored, because each sighting reads the zones of all
    /// presences.
    private(set) var zone = Zone.far

    /// A Boolean that is true if its zone is near or tap. An EID with nothing to pay can be in
    /// reach too.
    var isInReach: Bool { zone != .far }

    /// The thresholds of near for the adapter that hears it best.
    var nearThresholds: ProximityPolicy.Thresholds { policy.near(on: adapter) }

    /// The log odds in nats at which it enters a zone.
    var neededOdds: Double { policy.certainty }

    /// A Boolean that is true if those thresholds were measured with that adapter.
    var isCalibrated: Bool { policy.calibrations[adapter] != nil }

    /// The time at which it is removed if nothing more is heard. Stored, because it is read often.
    private(set) var removalDue: MonotonicTime

    private mutating func updateRemovalDue() {
        let learnt = interval.map { max(policy.minimumSilence, $0 * policy.silentIntervals) }
        removalDue = lastHeard + min(policy.maximumSilence, learnt ?? policy.firstSilence)
    }

    /// Applies another policy. A zone changes with the next sample.
    mutating func apply(_ policy: ProximityPolicy) {
        self.policy = policy
        updateRemovalDue()
    }

    mutating func add(_ sighting: Sighting) {
        // Several adapters report the same advertisement, so the interval is measured between two
        // reports of one adapter.
        let known = filters.first { $0.adapter == sighting.adapter }
        let before = filters.isEmpty ? lastHeard : known?.filter.lastTime
        if let before, sighting.time > before {
            let gap = sighting.time - before
            interval = interval.map { $0 + (gap - $0) / 4 } ?? gap
        }
        lastHeard = max(lastHeard, sighting.time)
        updateRemovalDue()
        carrier = sighting.carrier
        addLevel(of: sighting)
    }

    private mutating func addLevel(of sighting: Sighting) {
        guard let rssi = sighting.rssi else { return }
        var index = filters.firstIndex { $0.adapter == sighting.adapter } ?? filters.endIndex
        if index == filters.endIndex {
            guard filters.count < Self.adapterLimit else { return }
            filters.append((sighting.adapter, LevelFilter()))
        }
        filters[index].filter.add(rssi, at: sighting.time, on: sighting.adapter, policy: policy)
        if filters.count > 1 { index = chooseAdapter(at: sighting.time) }
        adapter = filters[index].adapter
        level = filters[index].filter.level
        lastRSSI = filters[index].filter.lastRSSI
        // An adapter that has just begun to hear it does not end the zone of another one.
        guard let nearest = filters.max(by: { $0.filter.zone < $1.filter.zone })?.filter else {
            return
        }
        zone = nearest.zone
        odds = zone == .far ? nearest.near.odds : nearest.tap.odds
    }

    /// Removes the levels of adapters that no longer hear it. The adapter that has just heard it
    /// must be among `filters`.
    ///
    /// - Returns: The index of the adapter that hears it best.
    private mutating func chooseAdapter(at time: MonotonicTime) -> Int {
        // An adapter that no longer hears it must not keep it near with an old level.
        filters.removeAll { $0.filter.lastTime.map { time - $0 >= policy.minimumSilence } ?? true }
        return filters.indices.max {
            (filters[$0].filter.level ?? -.infinity) < (filters[$1].filter.level ?? -.infinity)
        } ?? filters.startIndex
    }
}
