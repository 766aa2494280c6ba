import GotchuCore

/// The EIDs that the kiosk should have on the air, and those that are there.
struct AirState {
    /// The time for which a capacity inferred from a refused advertisement is valid.
    static let inferredCapacityLifetime: Duration = .seconds(60)
    /// The retry delay of an EID that could not be put on the air.
    static let retryPause: Duration = .seconds(1)

    var schedule = AirSchedule()
    /// Held by the one task that changes the air.
    let lock = AsyncLock()
    /// The EID that each open request should be advertised with.
    var targets: [SessionID: EID] = [:]
    /// The EID that it is advertised with now.
    var onAir: [SessionID: EID] = [:]
    /// Those of them that the radio has lost since, as after its adapter was switched off.
    private var lost: Set<EID> = []
    /// The EIDs that the radio last reported as advertised.
    private var advertised: Set<EID> = []
    /// The next time to call `reconcileAdvertisements`, besides the schedule's own changes.
    var retryAt: MonotonicTime?
    /// The wait until the next of these times.
    var waitTask: Task<Void, Never>?
    /// The capacity that the adapter reports.
    var reportedCapacity: Int?
    private var inferredCapacity: (capacity: Int, until: MonotonicTime)?

    /// The time of the next change that no event triggers.
    var nextChange: MonotonicTime? {
        [schedule.nextChange, retryAt].compactMap { $0 }.min()
    }

    /// A Boolean that is true if another advertisement fits beside those on the air.
    var hasFreeSlot: Bool { schedule.capacity.map { onAir.count < $0 } ?? true }

    /// Records that the adapter refused one advertisement more than are on the air.
    mutating func recordCapacityReached(at now: MonotonicTime) {
        inferredCapacity = (max(1, onAir.count), now + Self.inferredCapacityLifetime)
    }

    /// The requests that should be on the air now.
    mutating func wanted(at now: MonotonicTime) -> Set<SessionID> {
        if let inferredCapacity, inferredCapacity.until <= now { self.inferredCapacity = nil }
        schedule.capacity = [reportedCapacity, inferredCapacity?.capacity].compactMap { $0 }.min()
        return schedule.advance(to: now)
    }

    /// A Boolean that is true while a request is on the air, as far as the radio has reported.
    func isOnAir(_ id: SessionID) -> Bool { onAir[id].map { !lost.contains($0) } ?? false }

    /// Applies the radio's report of its advertisements, which may come later than their start.
    ///
    /// - Returns: The requests that were lost, and those that are on the air again.
    mutating func apply(advertised: Set<EID>) -> [SessionID] {
        let before = lost
        lost = lost.union(self.advertised).subtracting(advertised).intersection(onAir.values)
        self.advertised = advertised
        return onAir.filter { before.contains($0.value) != lost.contains($0.value) }.map(\.key)
    }

    mutating func add(_ id: SessionID, _ eid: EID, at now: MonotonicTime) {
        targets[id] = eid
        schedule.add(id, at: now)
    }

    mutating func remove(_ id: SessionID) {
        targets[id] = nil
        schedule.remove(id)
    }
}
