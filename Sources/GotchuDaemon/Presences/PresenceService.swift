import GotchuAPI
import GotchuCore
import LocalAPI
import Radio
import ServiceLifecycle
import Synchronization

/// Controls when the radio listens, evaluates sightings, and publishes changes.
///
/// Sightings are evaluated on the thread that received them, without a thread switch.
final class PresenceService: Service {
    /// The interval at which silent presences are removed. Presences of which only the level has
    /// changed are published at this interval.
    static let tick: Duration = .milliseconds(200)
    /// The tolerance of a tick. One wake-up can then serve both an advertisement and the tick.
    private static let tickTolerance: Duration = .milliseconds(50)

    /// The interval of the demand checks. After two checks in a row without demand, listening
    /// stops, 15 to 45 s after the last demand. A program that polls, and a user between `scan` and
    /// `pay`, do not wait for a new scan.
    static let demandInterval: Duration = .seconds(15)
    /// The listening time after which all devices nearby have been heard. A till advertises three
    /// times in it; the slowest device, which advertises every 1.28 s, once.
    private static let hearingTime: Duration = .seconds(2)
    /// The timeout for the radio to begin listening.
    private static let startLimit: Duration = .seconds(2)

    private let radio: any Radio
    private let listen: ListenSetting
    private let demandInterval: Duration
    private let hub: EventHub
    private let resolver: SessionResolver
    private let calibrations: CalibrationStore
    private let recorder: SightingRecorder
    private let state: Mutex<State>
    /// False for a replay. The server's current answers do not apply to recorded EIDs.
    private let usesServerAnswers: Bool

    /// Not copyable: a copy would cost more time than the evaluation of an advertisement.
    struct State: ~Copyable {
        var policy: ProximityPolicy
        var board: ProximityBoard
        /// The EIDs that were heard since they were last published. Their level may have changed.
        var unpublished: Set<EID> = []
        var isAdvertising: Set<EID> = []
        /// The adapter in use, and its address if it has one.
        var listening: (adapter: String?, address: String?)
        /// The time at which the radio began to listen; `nil` while it does not listen.
        var scanningSince: MonotonicTime?
        /// The callers that wait for the radio to begin listening.
        var listeningWaiters: [UInt64: AsyncStream<MonotonicTime>.Continuation] = [:]
        var nextWaiterID: UInt64 = 0
        /// A Boolean that is true if `requestListening` was called since the last demand check.
        var isListeningRequested = false
        /// The time at which each present EID was first heard at a near level.
        var nearSince: [EID: MonotonicTime] = [:]
        var counts = Counts()
    }

    /// Counts since the start.
    struct Counts: Sendable {
        var heard: [Sighting.Carrier: Int] = [:]
        var ignored: [IgnoredReason: Int] = [:]
        var verdicts: [Verdict: Int] = [:]
    }

    private let demands: AsyncStream<Void>
    private let demand: AsyncStream<Void>.Continuation
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation
    private let radioStates: AsyncStream<RadioState>
    private let radioState: AsyncStream<RadioState>.Continuation
    private let onRadioState: @Sendable (RadioState) async -> Void

    /// - Parameter onRadioState: Called with the newest state of the radio, one call at a time.
    init(
        radio: any Radio,
        listen: ListenSetting = .auto,
        demandInterval: Duration = PresenceService.demandInterval,
        policy: ProximityPolicy,
        calibrations: CalibrationStore,
        resolver: SessionResolver,
        hub: EventHub,
        recorder: SightingRecorder,
        onRadioState: @escaping @Sendable (RadioState) async -> Void
    ) {
        self.radio = radio
        self.listen = listen
        self.demandInterval = demandInterval
        usesServerAnswers = !(radio is ReplayRadio)
        self.calibrations = calibrations
        self.hub = hub
        self.recorder = recorder
        self.onRadioState = onRadioState
        state = Mutex(State(policy: policy, board: ProximityBoard(policy: policy)))
        self.resolver = resolver
        (demands, demand) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (arrivals, arrival) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (radioStates, radioState) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        resolver.listen { [weak self] in self?.applyAnswer(about: $0) }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { await self.serve() }
    }

    private func serve() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.setListening() }
            group.addTask(executorPreference: self.radio.executor) {
                for await _ in self.arrivals { await self.tick() }
            }
            group.addTask {
                for await state in self.radioStates { await self.onRadioState(state) }
            }
            group.addTask { await self.resolver.run() }
        }
    }

    // MARK: Demand

    /// Makes the radio listen for some time if the setting is `auto`. Each call extends the time.
    func requestListening() {
        state.withLock { $0.isListeningRequested = true }
        demand.yield()
    }

    /// Makes the radio listen. Returns two seconds after listening began, when all devices nearby
    /// should have been heard. If listening began earlier than that, or the setting is `never`,
    /// returns at once. If it does not begin, returns after two seconds.
    func listenForPresences() async {
        requestListening()
        guard listen != .never, let since = await listeningSince() else { return }
        // No event ends this wait: each device advertises at its own interval.
        await radio.pause(for: max(.zero, since + Self.hearingTime - .now))
    }

    /// Waits until the radio listens. Returns the time at which it began; `nil` after a timeout.
    private func listeningSince() async -> MonotonicTime? {
        let (moments, moment) = AsyncStream<MonotonicTime>.makeStream()
        let id = state.withLock { $0.addListeningWaiter(moment) }
        defer { state.withLock { $0.listeningWaiters[id] = nil } }
        return await withTaskGroup(of: MonotonicTime?.self) { group in
            group.addTask { await moments.first { _ in true } }
            group.addTask {
                // The timeout for the radio to begin listening.
                await self.radio.pause(for: Self.startLimit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    private func setListening() async {
        await radio.setListening(listen == .always)
        guard listen == .auto else { return }
        for await _ in demands where popDemand() {
            await radio.setListening(true)
            var (isIdle, wasIdle) = (false, false)
            while !(isIdle && wasIdle), !Task.isCancelled {
                // The end of demand is the absence of readers and calls, which no event reports.
                // The sleep is the time for which it must last; a sleep that is cut off ends the
                // loop.
                try? await Task.sleep(for: demandInterval)
                (isIdle, wasIdle) = (!popDemand(), isIdle)
            }
            await radio.setListening(false)
        }
    }

    /// Returns true if presences are read or recorded, or listening was requested since last time.
    private func popDemand() -> Bool {
        let isRequested = state.withLock { state in
            defer { state.isListeningRequested = false }
            return state.isListeningRequested
        }
        return isRequested || hub.hasSessionReaders || recorder.isRecording
    }

    // MARK: Presences

    /// Returns the presences heard now, nearest first.
    func presences() -> [PresenceView] {
        let now = MonotonicTime.now
        let sessions = resolver.known
        return state.withLock { state in
            state.board.nearestFirst.map { state.view(of: $0, at: now, session: sessions[$0.eid]) }
        }
    }

    func verdict(on eid: EID) -> Verdict? {
        state.withLock { state in
            apply(state.board.advance(to: .now), &state)
            return state.board[eid]?.verdict
        }
    }

    /// Returns the current verdict on a session: that of its EID that is heard best. The EID may
    /// have changed since the user saw it. Returns `nil` if no EID is known to be the session's.
    func verdict(on session: SessionID) -> Verdict? {
        state.withLock { state in
            apply(state.board.advance(to: .now), &state)
            return state.board.verdict(on: session)
        }
    }

    /// Asks the payment server about the strongest EIDs without an answer that are as near as a
    /// session. Returns once the verdict on the session includes the answers.
    ///
    /// - Returns: The number of such EIDs that have no answer then.
    func resolveRivals(of session: SessionID) async -> Int {
        let rivals = state.withLock { $0.board.unresolvedRivals(of: session) }
        guard !rivals.isEmpty else { return 0 }
        await resolver.resolve(rivals.prefix(ResolvePlan.rivalLimit))
        return state.withLock { state in
            apply(state.board.advance(to: .now), &state)
            return state.board.unresolvedRivals(of: session).count
        }
    }

    /// Applies the server's answer about an EID to its presence, and publishes the presence.
    private func applyAnswer(about eid: EID) {
        state.withLock { state in
            record(eid, &state)
            publish([eid], &state)
            apply(state.board.advance(to: .now), &state)
        }
    }

    private func record(_ eid: EID, _ state: inout State) {
        guard usesServerAnswers else { return }
        state.board.record(eid, resolver.resolution(of: eid))
    }

    /// Records that a session was paid. Its EIDs may still be advertised or repeated. They no
    /// longer make another till ambiguous.
    func end(_ session: SessionID) {
        let eids = resolver.end(session)
        state.withLock { state in
            for eid in eids { record(eid, &state) }
        }
    }

    /// Returns once the radio's thread has run a job and the board's lock was available.
    func waitForTurn() async {
        await radio.pause(for: .milliseconds(1))
        _ = presenceCount
    }

    var presenceCount: Int { state.withLock { $0.board.count } }

    var counts: Counts { state.withLock { $0.counts } }

    func nearSince(_ eid: EID) -> MonotonicTime? { state.withLock { $0.nearSince[eid] } }

    /// Applies the calibration of the adapter that listens now.
    func applyCalibration() { state.withLock { applyCalibration(&$0) } }

    // MARK: On the radio's thread

    /// The radio's listener.
    func apply(_ event: RadioEvent) {
        switch event {
        case .heard(let sighting): state.withLock { apply(sighting, &$0) }
        case .ignored(let reason):
            state.withLock { $0.counts.ignored[reason, default: 0] += 1 }
            recorder.recordIgnored(reason)
        case .stateChanged(let new):
            state.withLock { state in
                state.isAdvertising = new.advertising
                state.setScanning(new.isScanning)
                guard
                    new.adapter != state.listening.adapter
                        || new.address != state.listening.address
                else { return }
                state.listening = (new.adapter, new.address)
                applyCalibration(&state)
            }
            recorder.recordScanning(new.isScanning)
            radioState.yield(new)
        }
    }

    private func apply(_ sighting: Sighting, _ state: inout State) {
        // This machine's own advertisements, heard by another of its adapters, are ignored.
        guard !state.isAdvertising.contains(sighting.eid) else { return }
        state.counts.heard[sighting.carrier, default: 0] += 1
        recorder.record(sighting)
        let wasEmpty = state.board.isEmpty
        state.unpublished.insert(sighting.eid)
        let isNew = usesServerAnswers && !state.board.contains(sighting.eid)
        let cached = isNew ? resolver.resolution(of: sighting.eid) : .unknown
        apply(state.board.add(sighting, ifNew: cached), &state)
        state.recordNearness(of: sighting)
        if wasEmpty { arrival.yield() }
    }

    private func applyCalibration(_ state: inout State) {
        state.policy.calibrations = [:]
        if let name = state.listening.adapter {
            state.policy.calibrations[name] = calibrations[state.listening.address ?? name]
        }
        state.board.apply(state.policy)
    }

    /// Advances the board at each tick until it is empty. While it is empty, no timer runs.
    private func tick() async {
        while !Task.isCancelled {
            // No event reports silence: only time without a sighting shows that a device has gone.
            await radio.pause(for: Self.tick, tolerance: Self.tickTolerance)
            let isEmpty = state.withLock { state in
                // All changes are published in one call. Their lines are then written together.
                apply(state.board.advance(to: .now), publishingAll: true, &state)
                return state.board.isEmpty
            }
            if isEmpty { return }
        }
    }

    /// - Parameter publishingAll: True to also publish presences whose level alone has changed.
    private func apply(
        _ changes: ProximityBoard.Changes,
        publishingAll: Bool = false,
        _ state: inout State
    ) {
        // Most advertisements change only a level.
        guard !changes.isEmpty || publishingAll && !state.unpublished.isEmpty else { return }
        for eid in changes.lost { state.nearSince[eid] = nil }
        for eid in changes.changed {
            guard let verdict = state.board[eid]?.verdict else { continue }
            state.counts.verdicts[verdict, default: 0] += 1
        }
        var others: Set<EID> = []
        if publishingAll { swap(&others, &state.unpublished) }
        let changed = changes.changed.isEmpty ? others : changes.changed.union(others)
        publish(changed, lost: changes.lost, &state)
    }

    /// Publishes presences, and has those in reach resolved.
    private func publish(_ eids: Set<EID>, lost: Set<EID> = [], _ state: inout State) {
        for eid in lost {
            state.unpublished.remove(eid)
            resolver.removeFromQueue(eid)
        }
        for eid in eids { state.unpublished.remove(eid) }
        let presences = eids.compactMap { state.board[$0] }
        for presence in presences where state.board.needsSession(presence) {
            resolver.enqueue(
                presence.eid,
                level: presence.level ?? -.infinity,
                since: presence.firstHeard,
                isTap: presence.verdict == .tap
            )
        }
        let now = MonotonicTime.now
        hub.publish(
            lost.map { .presenceLost($0) }
                + presences.map {
                    .presenceChanged(
                        state.view(of: $0, at: now, session: resolver.cached($0.eid))
                    )
                }
        )
    }
}
