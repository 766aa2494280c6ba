import GotchuCore

/// Decides when to restart the scan for fresh samples of a candidate.
///
/// Many controllers report each address once per scan, and the kernel restarts a scan only every
/// 10.24 s: no payer waits that long at a till. So while somebody's EID is in the air and no fresh
/// sample of it comes by itself, the scan is restarted. A controller that reports everything
/// delivers samples faster than the pause here and is never disturbed. When it falls silent, a
/// restart helps only where it has lost its scan, and may do harm, so that it is left some time:
/// one that has just stopped answering loses the command to stop, and the kernel then waits for
/// ever for that stop (its discovery stays in the state `STOPPING` and refuses every scan until the
/// adapter is switched off).
struct SampleRefresher: Sendable {
    /// A candidate not heard for this long is gone.
    static let candidateLifetime: Duration = .seconds(5)
    /// One that has had its attention is remembered for so long, so that it does not start afresh.
    static let memory: Duration = .seconds(30)
    /// Between samples of a candidate that is near or moving: three of them and a bit make a
    /// verdict.
    static let fastPause: Duration = .milliseconds(300)
    /// Between samples of one that is far and still: how late its approach may be noticed.
    static let slowPause: Duration = .milliseconds(1200)
    /// From here on a candidate may be about to be tapped, in dBm.
    static let nearLevel = -65
    /// A step between samples that means movement, in dB; standing still gives ±6 with a moving
    /// hand.
    static let movement = 8
    /// The time after a movement in which samples are still wanted fast.
    static let movementLifetime: Duration = .seconds(5)
    /// One EID earns no more attention than this: none is valid for longer by far.
    static let attention: Duration = .seconds(600)
    /// This number of samples in this time, without a restart of ours, is what a controller
    /// reports that leaves nothing out.
    static let flow = 5
    static let flowWindow: Duration = .seconds(2)
    /// EIDs remembered; the candidate heard longest ago is forgotten for a new one.
    static let limit = 64

    private struct Candidate {
        let firstHeard: MonotonicTime
        var lastHeard: MonotonicTime
        var level: Int?
        var movedAt: MonotonicTime
        /// Samples since `flowStart`.
        var flowing = 1
        var flowStart: MonotonicTime
        /// The controller reports each of its advertisements.
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

    /// An EID that is not our own was heard.
    ///
    /// - Returns: True if the next restart may be due sooner for it; a known candidate that stays
    ///   where it was only puts it off.
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

    /// bluetoothd or the adapter went away; nothing is known of the air any more.
    mutating func reset() {
        candidates = [:]
        lastRestart = nil
    }

    /// The time at which the scan should be restarted unless a sample comes first; `nil` while
    /// there is no candidate.
    func nextRestart(now: MonotonicTime) -> MonotonicTime? {
        // Asked for each advertisement: one pass, and nothing is allocated.
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
