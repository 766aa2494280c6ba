/// Everything that is nearby, and the verdict on each: sightings and time in, changes out.
///
/// Pure: the time of a decision is the sighting's own or the one passed to `advance`. Keyed by EID and
/// bounded, so that changing device addresses and invented EIDs cannot grow it.
package struct ProximityBoard: Sendable {
    private let policy: ProximityPolicy
    private var presences: [EID: Presence] = [:]
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

    package subscript(eid: EID) -> Presence? { presences[eid] }

    /// All presences, the nearest first; those without a level last.
    package var nearestFirst: [Presence] {
        presences.values.sorted { left, right in
            let levels = (left.level ?? -.infinity, right.level ?? -.infinity)
            return levels.0 == levels.1 ? left.eid < right.eid : levels.0 > levels.1
        }
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
        let levels = presences.values
            .compactMap { presence in presence.level.map { (eid: presence.eid, level: $0) } }
            .sorted { $0.level == $1.level ? $0.eid < $1.eid : $0.level > $1.level }
        let best = levels.first
        let second = levels.dropFirst().first
        updateLeader(
            best: best?.eid,
            lead: best.flatMap { b in second.map { b.level - $0.level } },
            at: now
        )
        var changed: Set<EID> = []
        for (eid, presence) in presences {
            let margin = presence.level.flatMap { level -> Double? in
                guard let other = eid == best?.eid ? second : best else { return nil }
                return level - other.level
            }
            let verdict = verdict(on: presence, margin: margin, at: now)
            presences[eid]?.margin = margin
            if presence.verdict != verdict {
                presences[eid]?.verdict = verdict
                changed.insert(eid)
            }
        }
        return changed
    }

    /// Remembers since when the nearest has led the next clearly; being alone is leading.
    private mutating func updateLeader(best: EID?, lead: Double?, at now: MonotonicTime) {
        guard let best, lead ?? .infinity >= policy.lead else {
            leader = nil
            leadingSince = nil
            return
        }
        guard leader != best else { return }
        leader = best
        leadingSince = now
    }

    private func verdict(
        on presence: Presence,
        margin: Double?,
        at now: MonotonicTime
    ) -> Verdict {
        guard presence.zone > .far else { return .far }
        guard let margin else { return presence.zone == .tap ? .tap : .near }
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
}
