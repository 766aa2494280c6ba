import GotchuAPI
import GotchuCore
import LocalAPI
import PaymentClient
import Radio
import ServiceLifecycle
import Synchronization

/// Listens to the radio, keeps the board of who is near, and tells the readers of events.
///
/// What is heard is judged and told where it was noticed, without a change of thread.
final class PresenceService: Service {
    /// How often time is let pass while somebody is there, and presences are told of which only the
    /// level has changed.
    static let tick: Duration = .milliseconds(200)
    /// By how much that may be late where an advertisement is about to wake the thread.
    private static let tickTolerance: Duration = .milliseconds(50)

    private let radio: any Radio
    private let hub: EventHub
    private let resolver: SessionResolver
    private let calibrations: CalibrationStore
    private let recorder: SightingRecorder
    private let state: Mutex<State>
    /// A Boolean that is false for a recording: that its EIDs are nobody's today says nothing.
    private let isPresent: Bool

    /// Not to be copied by mistake: that costs more than to judge an advertisement.
    fileprivate struct State: ~Copyable {
        var policy: ProximityPolicy
        var board: ProximityBoard
        /// Heard since they were last told: their level may be another.
        var untold: Set<EID> = []
        var isAdvertising: Set<EID> = []
        /// The adapter that is used, and its address where it has one.
        var listening: (adapter: String?, address: String?)
        /// When each EID was first heard at a near level, for as long as it is here.
        var nearSince: [EID: MonotonicTime] = [:]
        var counts = Counts()
    }

    /// What was heard since the start.
    struct Counts: Sendable {
        var heard: [Sighting.Carrier: Int] = [:]
        var ignored: [StrangerReason: Int] = [:]
        var verdicts: [Verdict: Int] = [:]
    }

    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation
    private let radioStates: AsyncStream<RadioState>
    private let radioState: AsyncStream<RadioState>.Continuation
    private let onRadioState: @Sendable (RadioState) async -> Void

    /// - Parameter onRadioState: Told each state of the radio, but for those that a newer one has
    ///   overtaken.
    init(
        radio: any Radio,
        policy: ProximityPolicy,
        calibrations: CalibrationStore,
        client: PaymentClient,
        hub: EventHub,
        recorder: SightingRecorder,
        onRadioState: @escaping @Sendable (RadioState) async -> Void
    ) {
        self.radio = radio
        isPresent = !(radio is ReplayRadio)
        self.calibrations = calibrations
        self.hub = hub
        self.recorder = recorder
        self.onRadioState = onRadioState
        state = Mutex(State(policy: policy, board: ProximityBoard(policy: policy)))
        resolver = SessionResolver(client: client)
        (arrivals, arrival) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (radioStates, radioState) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        // Before the radio runs: nothing it says is missed.
        radio.events.listen { [weak self] event in self?.take(event) }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { await self.serve() }
    }

    private func serve() async {
        await withDiscardingTaskGroup { group in
            group.addTask(executorPreference: self.radio.executor) {
                for await _ in self.arrivals { await self.passTime() }
            }
            group.addTask {
                for await state in self.radioStates { await self.onRadioState(state) }
            }
            group.addTask {
                await self.resolver.run { eid in
                    self.state.withLock { state in
                        if self.isPresent { state.board.note(eid, self.resolver.standing(of: eid)) }
                        self.tell([eid], &state)
                    }
                }
            }
        }
    }

    /// What is heard now, nearest first.
    func presences() -> [PresenceView] {
        let now = MonotonicTime.now
        let sessions = resolver.known
        return state.withLock { state in
            state.board.nearestFirst.map { state.view(of: $0, at: now, session: sessions[$0.eid]) }
        }
    }

    /// The verdict on one EID at this moment; `nil` if it is not heard.
    func verdict(on eid: EID) -> Verdict? {
        state.withLock { state in
            apply(state.board.advance(to: .now), &state)
            return state.board[eid]?.verdict
        }
    }

    /// The verdict on a session at this moment, whichever of its EIDs is heard best: it may have
    /// changed its EID since a person saw it. `nil` if none is heard that is known to be its.
    func verdict(on session: SessionID) -> Verdict? {
        state.withLock { state in
            apply(state.board.advance(to: .now), &state)
            return state.board.verdict(on: session)
        }
    }

    /// Notes that a session was paid: whoever goes on advertising its EIDs, or repeats them, is in
    /// nobody's way any more.
    func end(_ session: SessionID) {
        let eids = resolver.end(session)
        state.withLock { state in
            guard isPresent else { return }
            for eid in eids { state.board.note(eid, .nobodys) }
        }
    }

    /// Returns once the radio's thread has had a turn and the board could be looked at.
    func takeTurn() async {
        await radio.pause(for: .milliseconds(1))
        _ = presenceCount
    }

    var presenceCount: Int { state.withLock { $0.board.count } }

    var counts: Counts { state.withLock { $0.counts } }

    /// Since when an EID has been heard at a near level; `nil` if it was not.
    func nearSince(_ eid: EID) -> MonotonicTime? { state.withLock { $0.nearSince[eid] } }

    /// Judges by what was measured with the adapter that listens now.
    func applyCalibration() { state.withLock { applyCalibration(&$0) } }

    // MARK: Where it was noticed

    private func take(_ event: RadioEvent) {
        switch event {
        case .heard(let sighting): state.withLock { hear(sighting, &$0) }
        case .ignored(let reason):
            state.withLock { $0.counts.ignored[reason, default: 0] += 1 }
            recorder.ignored(reason)
        case .stateChanged(let new):
            state.withLock { state in
                state.isAdvertising = new.advertising
                guard
                    new.adapter != state.listening.adapter
                        || new.address != state.listening.address
                else { return }
                state.listening = (new.adapter, new.address)
                applyCalibration(&state)
            }
            recorder.scanning(new.isScanning)
            radioState.yield(new)
        }
    }

    private func hear(_ sighting: Sighting, _ state: inout State) {
        // Two of our own radios may hear each other; a kiosk is not its own customer.
        guard !state.isAdvertising.contains(sighting.eid) else { return }
        state.counts.heard[sighting.carrier, default: 0] += 1
        recorder.heard(sighting)
        let wasEmpty = state.board.isEmpty
        state.untold.insert(sighting.eid)
        let isNew = isPresent && !state.board.contains(sighting.eid)
        let changes = state.board.add(sighting)
        // One that comes back is what it was; the next step judges by it, before it can be near.
        if isNew { state.board.note(sighting.eid, resolver.standing(of: sighting.eid)) }
        apply(changes, &state)
        state.noteNearness(sighting)
        if wasEmpty { arrival.yield() }
    }

    private func applyCalibration(_ state: inout State) {
        state.policy.calibrations = [:]
        if let name = state.listening.adapter {
            state.policy.calibrations[name] = calibrations[state.listening.address ?? name]
        }
        state.board.use(state.policy)
    }

    /// Lets time pass for as long as somebody is there; with nobody there nothing wakes.
    private func passTime() async {
        while !Task.isCancelled {
            // Silence is no event: that somebody has gone shows only by time passing.
            await radio.pause(for: Self.tick, tolerance: Self.tickTolerance)
            let isEmpty = state.withLock { state in
                // All at once: what is told by itself is written by itself.
                apply(state.board.advance(to: .now), tellingAll: true, &state)
                return state.board.isEmpty
            }
            if isEmpty { return }
        }
    }

    /// - Parameter tellingAll: Whether to tell also of those whose level alone is another.
    private func apply(
        _ changes: ProximityBoard.Changes,
        tellingAll: Bool = false,
        _ state: inout State
    ) {
        // Nearly every advertisement is of somebody who is where he was.
        guard !changes.isEmpty || tellingAll && !state.untold.isEmpty else { return }
        for eid in changes.lost { state.nearSince[eid] = nil }
        for eid in changes.changed {
            guard let verdict = state.board[eid]?.verdict else { continue }
            state.counts.verdicts[verdict, default: 0] += 1
        }
        var others: Set<EID> = []
        if tellingAll { swap(&others, &state.untold) }
        let told = changes.changed.isEmpty ? others : changes.changed.union(others)
        tell(told, lost: changes.lost, &state)
    }

    private func tell(_ eids: Set<EID>, lost: Set<EID> = [], _ state: inout State) {
        for eid in lost {
            state.untold.remove(eid)
            resolver.forget(eid)
        }
        for eid in eids { state.untold.remove(eid) }
        let presences = eids.compactMap { state.board[$0] }
        // Only what a person could pay is worth a question to the server; it asks again by itself
        // when an answer has grown old or there was none.
        for presence in presences where presence.verdict != .far {
            resolver.want(presence.eid, level: presence.level ?? -.infinity)
        }
        let lost = Array(lost)
        hub.publish(lost.count + presences.count) { index in
            guard index >= lost.count else { return .presenceLost(lost[index]) }
            let presence = presences[index - lost.count]
            return .presenceChanged(
                state.view(of: presence, at: .now, session: resolver.cached(presence.eid))
            )
        }
    }
}

extension PresenceService.State {
    fileprivate mutating func noteNearness(_ sighting: Sighting) {
        guard let rssi = sighting.rssi,
            Double(rssi.dBm) >= policy.near(on: sighting.adapter).enter,
            nearSince[sighting.eid] == nil, board.contains(sighting.eid)
        else { return }
        nearSince[sighting.eid] = sighting.time
    }

    fileprivate func view(
        of presence: Presence,
        at now: MonotonicTime,
        session: ResolvedSession?
    ) -> PresenceView {
        let wall = Timestamp.now
        let margin = board.margin(of: presence)
        return PresenceView(
            eid: presence.eid,
            verdict: presence.verdict,
            rssiDBm: presence.lastRSSI?.dBm,
            smoothedDBm: presence.level.map { ($0 * 10).rounded() / 10 },
            marginDB: margin.map { ($0 * 10).rounded() / 10 },
            carrier: presence.carrier,
            adapter: presence.adapter,
            firstHeardAt: wall.advanced(by: presence.firstHeard - now),
            lastHeardAt: wall.advanced(by: presence.lastHeard - now),
            rateHz: (presence.rate * 10).rounded() / 10,
            reason: presence.reason(margin: margin),
            session: session
        )
    }
}
