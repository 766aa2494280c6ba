import GotchuCore

/// Decides when to restart the scan for fresh samples of a candidate.
///
/// Many controllers report each address once per scan, and the kernel restarts a scan only every
/// 10.24 s. That is too long for a payer at a till. If an EID is in range and no fresh sample of it
/// arrives, the scan is restarted. A controller that reports every advertisement delivers samples
/// faster than the pause, and its scan is not restarted. If such a controller becomes silent, the
/// scan is restarted only after `slowPause`: a controller that has just stopped answering loses the
/// stop command. The kernel's discovery then stays in the state `STOPPING` and refuses every scan
/// until the adapter is switched off.
struct SampleRefresher: Sendable {
    /// The time after which a candidate that is not heard is gone.
    static let candidateLifetime: Duration = .seconds(5)
    /// The time after the last sighting for which a candidate is remembered. `attention` counts
    /// from its first sighting.
    static let memory: Duration = .seconds(30)
    /// The pause between samples of a candidate that is near or moving: a verdict needs slightly
    /// more than three samples.
    static let fastPause: Duration = .milliseconds(300)
    /// The pause for one that is far and still: an approach may go unnoticed for this long.
    static let slowPause: Duration = .milliseconds(1200)
    /// The level, in dBm, at or above which a candidate may be about to be tapped.
    static let nearLevel = -65
    /// The difference between samples, in dB, that counts as movement; a moving hand alone gives
    /// ±6.
    static let movement = 8
    /// The time after a movement during which samples are still wanted at the fast pace.
    static let movementLifetime: Duration = .seconds(5)
    /// The longest time for which one EID causes restarts; a genuine EID expires much sooner.
    static let attention: Duration = .seconds(600)
    /// The number of samples within `flowWindow`, without a restart of ours, after which the
    /// controller is known to report every advertisement.
    static let flow = 5
    static let flowWindow: Duration = .seconds(2)
    /// The maximum number of candidates. A new one replaces the one that was last heard longest
    /// ago.
    static let limit = 64

    private struct Candidate {
        let firstHeard: MonotonicTime
        var lastHeard: MonotonicTime
        var level: Int?
        var movedAt: MonotonicTime
        /// The number of samples since `flowStart`.
        var flowing = 1
        var flowStart: MonotonicTime
        /// A Boolean that is true if the controller reports each of its advertisements.
        var isFlowing = false

        mutating func sampled(now: MonotonicTime, lastRestart: MonotonicTime?) {
            lastHeard = now
            let isOver = now - flowStart > SampleRefresher.flowWindow
            if isOver || lastRestart.map({ $0 > flowStart }) ?? false {
                if flowing < SampleRefresher.flow { isFlowing = false }
                flowing = 1
                flowStart = now
            } else {
                flowing += 1
                if flowing >= SampleRefresher.flow { isFlowing = true }
            }
        }
    }

    private var candidates: [EID: Candidate] = [:]
    private var lastRestart: MonotonicTime?

    init() {}

    /// Handles a sighting of an EID that is not our own.
    ///
    /// - Returns: True if the next restart may be due sooner because of it; a known candidate that
    ///   does not move only postpones the restart.
    mutating func heard(_ sighting: Sighting) -> Bool {
        let now = sighting.time
        guard var known = candidates[sighting.eid], isKept(known, now: now) else {
            candidates = candidates.filter { isKept($0.value, now: now) }
            if candidates.count >= Self.limit,
                let oldest = candidates.min(by: { $0.value.lastHeard < $1.value.lastHeard })
            {
                candidates[oldest.key] = nil
            }
            candidates[sighting.eid] = Candidate(
                firstHeard: now,
                lastHeard: now,
                level: sighting.rssi?.dBm,
                movedAt: now,
                flowStart: now
            )
            return true
        }
        let wasActive = isActive(known, now: now)
        let wasUrgent = isUrgent(known, now: now)
        known.sampled(now: now, lastRestart: lastRestart)
        if let level = sighting.rssi?.dBm {
            if let before = known.level, abs(level - before) >= Self.movement {
                known.movedAt = now
            }
            known.level = level
        }
        candidates[sighting.eid] = known
        return isActive(known, now: now)
            && (!wasActive || !wasUrgent && isUrgent(known, now: now))
    }

    mutating func restarted(now: MonotonicTime) {
        lastRestart = now
    }

    /// The time at which the scan should be restarted unless a sample comes first; `nil` while
    /// there is no candidate.
    func nextRestart(now: MonotonicTime) -> MonotonicTime? {
        // Called for each advertisement: one pass, and nothing is allocated.
        var newest: MonotonicTime?
        var isUrgent = false
        for candidate in candidates.values where isActive(candidate, now: now) {
            newest = newest.map { max($0, candidate.lastHeard) } ?? candidate.lastHeard
            isUrgent = isUrgent || self.isUrgent(candidate, now: now)
        }
        guard let newest else { return nil }
        let from = lastRestart.map { max($0, newest) } ?? newest
        return from + (isUrgent ? Self.fastPause : Self.slowPause)
    }

    private func isUrgent(_ candidate: Candidate, now: MonotonicTime) -> Bool {
        guard !candidate.isFlowing else { return false }
        return (candidate.level ?? Self.nearLevel) >= Self.nearLevel
            || now - candidate.movedAt < Self.movementLifetime
    }

    private func isActive(_ candidate: Candidate, now: MonotonicTime) -> Bool {
        now - candidate.lastHeard < Self.candidateLifetime
            && now - candidate.firstHeard < Self.attention
    }

    private func isKept(_ candidate: Candidate, now: MonotonicTime) -> Bool {
        now - candidate.lastHeard < Self.memory
    }
}
