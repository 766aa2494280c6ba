/// The presences and their verdicts. Takes sightings and the time, and returns what changed.
///
/// Stores at most `presenceLimit` EIDs, whatever the number of device addresses and forged EIDs.
package struct ProximityBoard: Sendable {
    private var policy: ProximityPolicy
    /// The presences, unordered and contiguous: every sighting reads all of them.
    private var presences: [Presence] = []
    /// Their EIDs, in the same order.
    private var eids: [EID] = []
    /// The strongest presence, and the strongest of any other session, as of the last step.
    private var best: Ranked?
    private var second: Ranked?

    package init(policy: ProximityPolicy = ProximityPolicy()) {
        self.policy = policy
    }

    /// The result of a step: presences that are new or have a new verdict, and those removed.
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

    /// Applies another policy from now on, to existing presences too.
    package mutating func apply(_ policy: ProximityPolicy) {
        self.policy = policy
        for index in presences.indices { presences[index].apply(policy) }
    }

    /// Stores the payment server's answer about an EID. The next step uses it. It is dropped with
    /// the presence. An EID with nothing to pay is not ranked: its verdict is always `far`, and it
    /// makes no other EID ambiguous. The EIDs of one session are ranked as one. An EID without an
    /// answer may be another till's, so it is ranked, however long the answer takes.
    package mutating func record(_ eid: EID, _ resolution: Presence.Resolution) {
        guard let index = eids.firstIndex(of: eid) else { return }
        presences[index].resolution = resolution
    }

    /// Returns the verdict on the nearest EID of the session; `nil` if none is heard.
    package func verdict(on session: SessionID) -> Verdict? { nearest(of: session)?.verdict }

    /// Returns the EIDs without an answer that prevent a tap of the session, strongest first: those
    /// stronger than its nearest EID, and those less than `policy.lead` weaker.
    package func unresolvedRivals(of session: SessionID) -> [EID] {
        guard let own = nearest(of: session)?.rankingLevel else { return [] }
        return nearestFirst.filter { presence in
            presence.resolution == .unknown
                && presence.rankingLevel.map { own - $0 < policy.lead } ?? false
        }
        .map(\.eid)
    }

    /// Returns true if verdicts depend on the presence's session: it is in reach, or less than
    /// `policy.lead` weaker than the strongest, which is in reach.
    package func needsSession(_ presence: Presence) -> Bool {
        if presence.isInReach { return true }
        guard let best, let level = presence.rankingLevel, best.level - level < policy.lead else {
            return false
        }
        return self[best.eid]?.isInReach == true
    }

    /// Returns the session's EID in the nearest zone, and of several the strongest: the zone of an
    /// EID that is new on the air is not decided yet.
    private func nearest(of session: SessionID) -> Presence? {
        presences.filter { $0.resolution == .session(session) }
            .max { ($0.zone, $0.level ?? -.infinity) < ($1.zone, $1.level ?? -.infinity) }
    }

    /// Applies one sighting.
    ///
    /// - Parameter resolution: The payment server's answer, if the EID is new.
    package mutating func add(
        _ sighting: Sighting,
        ifNew resolution: Presence.Resolution = .unknown
    ) -> Changes {
        var changes = Changes()
        if let index = eids.firstIndex(of: sighting.eid) {
            presences[index].add(sighting)
        } else {
            if presences.count >= ProximityPolicy.presenceLimit {
                guard let victim = evictionCandidate(for: sighting) else { return changes }
                changes.lost.insert(remove(at: victim))
            }
            presences.append(Presence(first: sighting, resolution, policy: policy))
            eids.append(sighting.eid)
            changes.changed.insert(sighting.eid)
        }
        changes.changed.formUnion(updateVerdicts())
        return changes
    }

    /// Advances the time: removes silent presences.
    package mutating func advance(to now: MonotonicTime) -> Changes {
        var changes = Changes()
        for index in presences.indices.reversed() where presences[index].removalDue <= now {
            changes.lost.insert(remove(at: index))
        }
        changes.changed = updateVerdicts()
        return changes
    }

    /// Sets every presence's verdict; returns those that changed.
    private mutating func updateVerdicts() -> Set<EID> {
        (best, second) = (nil, nil)
        for index in presences.indices {
            guard let level = rankingLevel(of: index), level >= second?.level ?? -.infinity else {
                continue
            }
            let ranked = Ranked(eid: eids[index], level: level, resolution: resolution(of: index))
            let isSame = best.map(ranked.isSame) ?? false
            if best.map({ $0 < ranked }) ?? true {
                if !isSame { second = best }
                best = ranked
            } else if !isSame, second.map({ $0 < ranked }) ?? true {
                second = ranked
            }
        }
        var changed: Set<EID> = []
        for index in presences.indices {
            // Most presences are far. Their verdict needs no comparison with the others.
            let (before, isFar) = verdict(of: index)
            let verdict = isFar ? .far : verdict(on: index)
            guard before != verdict else { continue }
            presences[index].verdict = verdict
            changed.insert(eids[index])
        }
        return changed
    }

    // Each sighting reads every presence. The functions below read them through a span, which
    // copies no stored properties.

    private func resolution(of index: Int) -> Presence.Resolution {
        presences.span[index].resolution
    }

    /// Returns a presence's previous verdict, and true if it is far regardless of the others.
    private func verdict(of index: Int) -> (Verdict, isFar: Bool) {
        let presences = presences.span
        let isFar = presences[index].zone == .far || presences[index].resolution == .noSession
        return (presences[index].verdict, isFar)
    }

    /// Returns the level by which a presence is ranked; `nil` if it is not ranked.
    private func rankingLevel(of index: Int) -> Double? { presences.span[index].rankingLevel }

    /// Removes a presence; the last one moves to its index.
    private mutating func remove(at index: Int) -> EID {
        presences.swapAt(index, presences.endIndex - 1)
        presences.removeLast()
        eids.swapAt(index, eids.endIndex - 1)
        return eids.removeLast()
    }

    /// Returns the lead in dB. For the best presence, it is the lead over the next best. For any
    /// other, it is the lead over the best, which is positive only for a presence that is not
    /// ranked. Returns `nil` if the presence is alone or has no level. The levels of the others are
    /// those of the last step.
    package func margin(of presence: Presence) -> Double? {
        guard let index = eids.firstIndex(of: presence.eid), let level = presence.level else {
            return nil
        }
        let own = Ranked(eid: presence.eid, level: level, resolution: presence.resolution)
        return margin(of: rank(of: index) ?? own)
    }

    private func margin(of own: Ranked) -> Double? {
        guard let best else { return nil }
        return (own.isSame(best) ? second : best).map { own.level - $0.level }
    }

    /// Returns a presence's rank; `nil` if it is not ranked.
    private func rank(of index: Int) -> Ranked? {
        rankingLevel(of: index).map {
            Ranked(eid: eids[index], level: $0, resolution: resolution(of: index))
        }
    }

    /// Returns the verdict on a presence that is not far: that of its zone if its session is the
    /// nearest and leads by `policy.lead` or is alone. A presence that is clearly behind is shown
    /// as near, and never picked automatically.
    private func verdict(on index: Int) -> Verdict {
        let own: Verdict = presences[index].zone == .tap ? .tap : .near
        guard let best, let ranked = rank(of: index) else { return own }
        guard ranked.isSame(best) else {
            return best.level - ranked.level >= policy.lead ? .near : .ambiguous
        }
        return second.map { best.level - $0.level < policy.lead } == true ? .ambiguous : own
    }

    /// Returns the index of the presence to evict for a new EID; `nil` if the new one is not
    /// stored. The first of these that exists:
    ///
    /// - among those below the near threshold, the one that has not been heard for longest;
    /// - among those with nothing to pay, the weakest;
    /// - the weakest of all, if the new one is stronger.
    private func evictionCandidate(for new: Sighting) -> Int? {
        let far = presences.indices.filter { index in
            presences[index].zone == .far
                && level(index) < presences[index].nearThresholds.enter
        }
        if let victim = far.min(by: { presences[$0].lastHeard < presences[$1].lastHeard }) {
            return victim
        }
        let unpayable = presences.indices.filter { presences[$0].resolution == .noSession }
        if let victim = unpayable.min(by: { level($0) < level($1) }) { return victim }
        guard let rssi = new.rssi,
            let victim = presences.indices.min(by: { level($0) < level($1) }),
            level(victim) < Double(rssi.dBm)
        else { return nil }
        return victim
    }

    private func level(_ index: Int) -> Double { presences[index].level ?? -.infinity }

    /// A rank by level. For equal levels, the EID makes the order deterministic.
    private struct Ranked: Comparable, Sendable {
        let eid: EID
        let level: Double
        let resolution: Presence.Resolution

        /// Returns true if both have the same EID or the same session.
        func isSame(_ other: Ranked) -> Bool {
            eid == other.eid || resolution != .unknown && resolution == other.resolution
        }

        static func < (left: Ranked, right: Ranked) -> Bool {
            left.level == right.level ? left.eid > right.eid : left.level < right.level
        }
    }
}
