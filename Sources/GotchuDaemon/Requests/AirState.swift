import GotchuCore

/// The EIDs that the kiosk wants on the air, and those that are there.
struct AirState {
    /// The time for which an adapter that refused an advertisement counts as full.
    static let learntLifetime: Duration = .seconds(60)
    /// The time after which an EID that did not come on the air is tried again.
    static let retryPause: Duration = .seconds(1)

    var schedule = AirSchedule()
    /// Held by the one piece of work that changes the air.
    let lock = AsyncLock()
    /// The EID that each open request should be heard with.
    var targets: [SessionID: EID] = [:]
    /// The EID that it is heard with at this moment.
    var onAir: [SessionID: EID] = [:]
    /// Those of them that the radio has lost since, as with an adapter that was switched off.
    private var lost: Set<EID> = []
    /// The EIDs that the radio last said it has on the air.
    private var advertised: Set<EID> = []
    /// The next time to settle the air, beside the schedule's own changes.
    var retryAt: MonotonicTime?
    /// The wait until one of those is due.
    var pause: Task<Void, Never>?
    /// The capacity that the adapter states.
    var stated: Int?
    private var learnt: (capacity: Int, until: MonotonicTime)?

    /// The next change without an event.
    var nextChange: MonotonicTime? {
        [schedule.nextChange, retryAt].compactMap { $0 }.min()
    }

    /// A Boolean that is true if another advertisement fits in beside those that are there.
    var hasSpare: Bool { schedule.capacity.map { onAir.count < $0 } ?? true }

    /// The adapter has refused one more than there are.
    mutating func learnFull(at now: MonotonicTime) {
        learnt = (max(1, onAir.count), now + Self.learntLifetime)
    }

    /// The requests that should be on the air now.
    mutating func wanted(at now: MonotonicTime) -> Set<SessionID> {
        if let learnt, learnt.until <= now { self.learnt = nil }
        schedule.capacity = [stated, learnt?.capacity].compactMap { $0 }.min()
        return schedule.advance(to: now)
    }

    /// A Boolean that is true while a request is heard, as far as the radio knows.
    func isOnAir(_ id: SessionID) -> Bool { onAir[id].map { !lost.contains($0) } ?? false }

    /// Applies what the radio has on the air, which it may say later than it was asked for.
    ///
    /// - Returns: The requests that were lost, and those that are heard again.
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
