import GotchuCore

/// What the kiosk wants on the air, and what is there.
struct AirState {
    /// For how long an adapter that refused an advertisement is believed to have no more room.
    static let learntLifetime: Duration = .seconds(60)
    /// After this long an EID that did not come on the air is tried again.
    static let retryPause: Duration = .seconds(1)

    var schedule = AirSchedule()
    var turnstile = Turnstile()
    /// The EID that each open request should be heard with.
    var targets: [SessionID: EID] = [:]
    /// The EID that it is heard with at this moment.
    var onAir: [SessionID: EID] = [:]
    /// When what is there must be looked at again, beside the schedule's own changes.
    var retryAt: MonotonicTime?
    /// What is waited in, until one of those is due.
    var pause: Task<Void, Never>?
    /// What the adapter says of itself.
    var stated: Int?
    private var learnt: (capacity: Int, until: MonotonicTime)?

    /// When there will be something to do although nothing happens.
    var nextChange: MonotonicTime? {
        [schedule.nextChange, retryAt].compactMap { $0 }.min()
    }

    /// Whether another advertisement fits in beside those that are there.
    var hasSpare: Bool { schedule.capacity.map { onAir.count < $0 } ?? true }

    /// The adapter has refused one more than there are.
    mutating func learnFull(at now: MonotonicTime) {
        learnt = (max(1, onAir.count), now + Self.learntLifetime)
    }

    /// Who should be on the air now.
    mutating func wanted(at now: MonotonicTime) -> Set<SessionID> {
        if let learnt, learnt.until <= now { self.learnt = nil }
        schedule.capacity = [stated, learnt?.capacity].compactMap { $0 }.min()
        return schedule.advance(to: now)
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
