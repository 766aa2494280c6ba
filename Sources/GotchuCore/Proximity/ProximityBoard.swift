/// Everything that is nearby, and the verdict on each: sightings and time in, changes out.
///
/// Pure: the time of a decision is the sighting's own or the one passed to `advance`. Keyed by EID
/// and bounded, so that changing device addresses and invented EIDs cannot grow it.
package struct ProximityBoard: Sendable {
    private var policy: ProximityPolicy
    /// In no order. Every sighting looks at all of them, so they lie side by side.
    private var presences: [Presence] = []
    /// Their EIDs, in the same order.
    private var eids: [EID] = []
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

    package subscript(eid: EID) -> Presence? { eids.firstIndex(of: eid).map { presences[$0] } }

    package func contains(_ eid: EID) -> Bool { eids.contains(eid) }

    /// All presences, the nearest first; those without a level last.
    package var nearestFirst: [Presence] {
        presences.sorted { left, right in
            let levels = (left.level ?? -.infinity, right.level ?? -.infinity)
            return levels.0 == levels.1 ? left.eid < right.eid : levels.0 > levels.1
        }
    }

    /// Judges by other numbers from now on, also those who are there.
    package mutating func use(_ policy: ProximityPolicy) {
        self.policy = policy
        for index in presences.indices { presences[index].use(policy) }
    }

    /// Takes one sighting.
    package mutating func add(_ sighting: Sighting) -> Changes {
        var changes = Changes()
        if let index = eids.firstIndex(of: sighting.eid) {
            presences[index].add(sighting)
        } else {
            if presences.count >= ProximityPolicy.presenceLimit {
                guard let victim = leastWanted() else { return changes }
                changes.lost.insert(remove(at: victim))
            }
            presences.append(Presence(first: sighting, policy: policy))
            eids.append(sighting.eid)
            changes.changed.insert(sighting.eid)
        }
        changes.changed.formUnion(judge(at: sighting.time))
        return changes
    }

    /// Lets time pass: forgets what fell silent and leaves zones that were left.
    package mutating func advance(to now: MonotonicTime) -> Changes {
        var changes = Changes()
        for index in presences.indices.reversed() where presences[index].silentAfter <= now {
            changes.lost.insert(remove(at: index))
        }
        for index in presences.indices { presences[index].advance(to: now) }
        changes.changed = judge(at: now)
        return changes
    }

    /// Gives every presence its verdict and returns those whose verdict is new.
    private mutating func judge(at now: MonotonicTime) -> Set<EID> {
        (best, second) = (nil, nil)
        for index in presences.indices {
            guard let level = presences[index].level else { continue }
            let ranked = Ranked(eid: eids[index], level: level)
            if best.map({ $0 < ranked }) ?? true {
                (best, second) = (ranked, best)
            } else if second.map({ $0 < ranked }) ?? true {
                second = ranked
            }
        }
        updateLeader(at: now)
        var changed: Set<EID> = []
        for index in presences.indices {
            // Most are far and need no more thought.
            let isFar = presences[index].zone == .far
            let verdict = isFar ? .far : verdict(on: presences[index], at: now)
            guard presences[index].verdict != verdict else { continue }
            presences[index].verdict = verdict
            changed.insert(eids[index])
        }
        return changed
    }

    /// The last one takes its place.
    private mutating func remove(at index: Int) -> EID {
        presences.swapAt(index, presences.endIndex - 1)
        presences.removeLast()
        eids.swapAt(index, eids.endIndex - 1)
        return eids.removeLast()
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

    /// The verdict on one that is not far.
    private func verdict(on presence: Presence, at now: MonotonicTime) -> Verdict {
        guard let margin = margin(of: presence) else { return presence.zone == .tap ? .tap : .near }
        if presence.eid == leader, let leadingSince, now - leadingSince >= policy.timeToLead {
            return presence.zone == .tap ? .tap : .near
        }
        // Clearly behind the leader: shown as near, never offered as the one that is held here.
        if presence.eid != leader, margin <= -policy.lead { return .near }
        return .ambiguous
    }

    /// Who makes room for a new EID: never one that is near, else the longest unheard.
    private func leastWanted() -> Int? {
        presences.indices
            .filter { presences[$0].zone == .far }
            .min { presences[$0].lastHeard < presences[$1].lastHeard }
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
