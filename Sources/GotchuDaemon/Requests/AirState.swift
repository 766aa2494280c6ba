import GotchuCore

/// The EIDs that the kiosk should advertise, and those that it advertises now.
struct AirState {
    /// The time for which a capacity is valid that was inferred from a refused advertisement.
    static let inferredCapacityLifetime: Duration = .seconds(60)
    /// The retry delay of an EID that could not be advertised.
    static let retryPause: Duration = .seconds(1)

    var schedule = AirSchedule()
    /// The lock for changes of the advertisements: only one task at a time makes them.
    let lock = AsyncLock()
    /// The EID that each open request should be advertised with.
    var targets: [SessionID: EID] = [:]
    /// The EID that each request is advertised with now.
    var onAir: [SessionID: EID] = [:]
    /// The EIDs in `onAir` that the radio no longer advertises, for example after the adapter was
    /// switched off.
    private var lost: Set<EID> = []
    /// The EIDs that the radio last reported as advertised.
    private var advertised: Set<EID> = []
    /// The time of the next call of `reconcileAdvertisements` that the schedule does not cause.
    var retryAt: MonotonicTime?
    /// The wait until `nextChange`.
    var waitTask: Task<Void, Never>?
    /// The capacity that the adapter reports.
    var reportedCapacity: Int?
    private var inferredCapacity: (capacity: Int, until: MonotonicTime)?

    /// The time of the next change that no event triggers; `nil` if there is none.
    var nextChange: MonotonicTime? {
        [schedule.nextChange, retryAt].compactMap { $0 }.min()
    }

    /// A Boolean that is true if another advertisement fits in addition to those on the air.
    var hasFreeSlot: Bool { schedule.capacity.map { onAir.count < $0 } ?? true }

    /// Records that the adapter has refused one advertisement more than are on the air.
    mutating func recordCapacityReached(at now: MonotonicTime) {
        inferredCapacity = (max(1, onAir.count), now + Self.inferredCapacityLifetime)
    }

    /// Returns the requests that should be on the air now.
    mutating func wanted(at now: MonotonicTime) -> Set<SessionID> {
        if let inferredCapacity, inferredCapacity.until <= now { self.inferredCapacity = nil }
        schedule.capacity = [reportedCapacity, inferredCapacity?.capacity].compactMap { $0 }.min()
        return schedule.advance(to: now)
    }

    /// Returns true if a request is on the air according to the radio's last report.
    func isOnAir(_ id: SessionID) -> Bool { onAir[id].map { !lost.contains($0) } ?? false }

    /// Applies the radio's report of its advertisements. A report may arrive some time after their
    /// start.
    ///
    /// - Returns: The requests that have left the air, and those that are on the air again.
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
