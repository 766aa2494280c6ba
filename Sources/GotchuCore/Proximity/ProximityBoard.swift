/// Everything that is nearby, and the verdict on each: sightings and time in, changes out.
///
/// Pure: the time of a decision is the sighting's own or the one passed to `advance`. Keyed by EID
/// and bounded, so that changing device addresses and invented EIDs cannot grow it.
package struct ProximityBoard: Sendable {
    private var policy: ProximityPolicy
    private var presences: [EID: Presence] = [:]
    /// The two strongest, as of the last step.
    private var best: Ranked?
    private var second: Ranked?
    private var leader: EID?
    private var leadingSince: MonotonicTime?

    package init(policy: ProximityPolicy = ProximityPolicy()) {
        self.policy = policy
    }

    /// What a step changed: presences that are new or have a new verdict, and those that are gone.
    package struct Changes: Equatable, Sendable {
        package var changed: Set<EID> = []
        package var lost: Set<EID> = []

        package var isEmpty: Bool { changed.isEmpty && lost.isEmpty }
    }

    package var isEmpty: Bool { presences.isEmpty }
    package var count: Int { presences.count }

    package subscript(eid: EID) -> Presence? { presences[eid] }

    /// All presences, the nearest first; those without a level last.
    package var nearestFirst: [Presence] {
        presences.values.sorted { left, right in
            let levels = (left.level ?? -.infinity, right.level ?? -.infinity)
            return levels.0 == levels.1 ? left.eid < right.eid : levels.0 > levels.1
        }
    }

    /// Judges by other numbers from now on, also those who are there.
    package mutating func use(_ policy: ProximityPolicy) {
        self.policy = policy
        for eid in presences.keys { presences[eid]?.use(policy) }
    }

    /// Takes one sighting.
    package mutating func add(_ sighting: Sighting) -> Changes {
        var changes = Changes()
        if presences[sighting.eid] != nil {
            presences[sighting.eid]?.add(sighting)
        } else {
            if presences.count >= ProximityPolicy.presenceLimit {
                guard let victim = leastWanted() else { return changes }
                presences[victim] = nil
                changes.lost.insert(victim)
            }
            presences[sighting.eid] = Presence(first: sighting, policy: policy)
            changes.changed.insert(sighting.eid)
        }
        changes.changed.formUnion(judge(at: sighting.time))
        return changes
    }

    /// Lets time pass: forgets what fell silent and leaves zones that were left.
    package mutating func advance(to now: MonotonicTime) -> Changes {
        var changes = Changes()
        for (eid, presence) in presences where presence.silentAfter <= now {
            presences[eid] = nil
            changes.lost.insert(eid)
        }
        for eid in presences.keys { presences[eid]?.advance(to: now) }
        changes.changed = judge(at: now)
        return changes
    }

    /// Gives every presence its verdict and returns those whose verdict is new.
    private mutating func judge(at now: MonotonicTime) -> Set<EID> {
        (best, second) = (nil, nil)
        for presence in presences.values {
            guard let level = presence.level else { continue }
            let ranked = Ranked(eid: presence.eid, level: level)
            if best.map({ $0 < ranked }) ?? true {
                (best, second) = (ranked, best)
            } else if second.map({ $0 < ranked }) ?? true {
                second = ranked
            }
        }
        updateLeader(at: now)
        var changed: Set<EID> = []
        for index in presences.values.indices {
            let verdict = verdict(on: presences.values[index], at: now)
            guard presences.values[index].verdict != verdict else { continue }
            presences.values[index].verdict = verdict
            changed.insert(presences.values[index].eid)
        }
        return changed
    }

    /// By how many dB a presence leads the next best (negative: is behind the best); `nil` when it
    /// is alone or has no level.
    package func margin(of presence: Presence) -> Double? {
        guard let level = presence.level,
            let other = presence.eid == best?.eid ? second : best
        else { return nil }
        return level - other.level
    }

    /// Remembers since when the nearest has led the next clearly; being alone is leading.
    private mutating func updateLeader(at now: MonotonicTime) {
        guard let best, second.map({ best.level - $0.level >= policy.lead }) ?? true else {
            leader = nil
            leadingSince = nil
            return
        }
        guard leader != best.eid else { return }
        leader = best.eid
        leadingSince = now
    }

    private func verdict(on presence: Presence, at now: MonotonicTime) -> Verdict {
        guard presence.zone > .far else { return .far }
        guard let margin = margin(of: presence) else { return presence.zone == .tap ? .tap : .near }
        if presence.eid == leader, let leadingSince, now - leadingSince >= policy.timeToLead {
            return presence.zone == .tap ? .tap : .near
        }
        // Clearly behind the leader: shown as near, never offered as the one that is held here.
        if presence.eid != leader, margin <= -policy.lead { return .near }
        return .ambiguous
    }

    /// Who makes room for a new EID: never one that is near, else the longest unheard.
    private func leastWanted() -> EID? {
        presences.values
            .filter { $0.zone == .far }
            .min { $0.lastHeard < $1.lastHeard }?.eid
    }

    /// A presence's place by level; equal levels are told apart by EID, so that the order is
    /// certain.
    private struct Ranked: Comparable, Sendable {
        let eid: EID
        let level: Double

        static func < (left: Ranked, right: Ranked) -> Bool {
            left.level == right.level ? left.eid > right.eid : left.level < right.level
        }
    }
}
