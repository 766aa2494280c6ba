import GotchuAPI
import GotchuCore
import LocalAPI
import Logging
import PaymentClient
import Radio
import ServiceLifecycle

/// Listens to the radio, keeps the board of who is near, and tells the readers of events.
actor PresenceService: Service {
    /// How often time is let pass while somebody is there.
    static let tick: Duration = .milliseconds(200)
    /// At most this often is a presence told again when only its level has changed.
    static let levelInterval: Duration = .milliseconds(250)

    private let radio: any Radio
    private let hub: EventHub
    private let resolver: SessionResolver
    private var policy: ProximityPolicy
    private let calibrations: CalibrationStore
    private let recorder: SightingRecorder
    private let logger: Logger
    private let onRadioState: @Sendable (RadioState) async -> Void

    private var board: ProximityBoard
    private var lastTold: [EID: MonotonicTime] = [:]
    private var isAdvertising: Set<EID> = []
    /// The adapter that is used, and its address where it has one.
    private var listening: (adapter: String?, address: String?)
    /// When each EID was first heard at a near level, for as long as it is here.
    private var nearSince: [EID: MonotonicTime] = [:]
    private(set) var counts = Counts()

    /// What was heard since the start.
    struct Counts: Sendable {
        var heard: [Sighting.Carrier: Int] = [:]
        var ignored: [StrangerReason: Int] = [:]
        var verdicts: [Verdict: Int] = [:]
    }

    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init(
        radio: any Radio,
        policy: ProximityPolicy,
        calibrations: CalibrationStore,
        client: PaymentClient,
        hub: EventHub,
        recorder: SightingRecorder,
        logger: Logger,
        onRadioState: @escaping @Sendable (RadioState) async -> Void
    ) {
        self.radio = radio
        self.policy = policy
        self.calibrations = calibrations
        self.hub = hub
        self.recorder = recorder
        self.logger = logger
        self.onRadioState = onRadioState
        board = ProximityBoard(policy: policy)
        resolver = SessionResolver(client: client)
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: radio.executor) {
                await cancelWhenGracefulShutdown { await self.listen() }
            }
            group.addTask {
                for await _ in self.wakes.cancelOnGracefulShutdown() { await self.passTime() }
            }
            group.addTask {
                await self.resolver.run { eid in await self.tell(eid) }
            }
            // The radio's stream ends at the latest when the radio does.
            await group.next()
            group.cancelAll()
        }
    }

    /// What is heard now, nearest first.
    func presences() -> [PresenceView] {
        let now = MonotonicTime.now
        let sessions = resolver.known
        return board.nearestFirst.map { view(of: $0, at: now, session: sessions[$0.eid]) }
    }

    /// The verdict on one EID at this moment; `nil` if it is not heard.
    func verdict(on eid: EID) -> Verdict? {
        apply(board.advance(to: .now))
        return board[eid]?.verdict
    }

    /// What the radio noticed and this was too slow for.
    nonisolated var droppedEvents: Int { radio.droppedEvents }

    var presenceCount: Int { board.nearestFirst.count }

    /// Since when an EID has been heard at a near level; `nil` if it was not.
    func nearSince(_ eid: EID) -> MonotonicTime? { nearSince[eid] }

    /// On this actor throughout: what waits already is taken without a change of thread.
    private func listen() async {
        for await event in radio.events { await take(event) }
    }

    private func take(_ event: RadioEvent) async {
        switch event {
        case .heard(let sighting):
            // Two of our own radios may hear each other; a kiosk is not its own customer.
            guard !isAdvertising.contains(sighting.eid) else { return }
            counts.heard[sighting.carrier, default: 0] += 1
            recorder.heard(sighting)
            let wasEmpty = board.isEmpty
            apply(board.add(sighting))
            noteNearness(sighting)
            tellLevel(of: sighting.eid, at: sighting.time)
            if wasEmpty { wake.yield() }
        case .ignored(let reason):
            counts.ignored[reason, default: 0] += 1
            recorder.ignored(reason)
        case .stateChanged(let state):
            isAdvertising = state.advertising
            recorder.scanning(state.isScanning)
            if state.adapter != listening.adapter || state.address != listening.address {
                listening = (state.adapter, state.address)
                applyCalibration()
            }
            await onRadioState(state)
        }
    }

    /// Judges by what was measured with the adapter that listens now.
    func applyCalibration() {
        policy.calibrations = [:]
        if let name = listening.adapter {
            policy.calibrations[name] = calibrations[listening.address ?? name]
        }
        board.use(policy)
    }

    private func noteNearness(_ sighting: Sighting) {
        guard nearSince[sighting.eid] == nil, board[sighting.eid] != nil,
            let rssi = sighting.rssi, Double(rssi.dBm) >= policy.near(on: sighting.adapter).enter
        else { return }
        nearSince[sighting.eid] = sighting.time
    }

    /// Lets time pass for as long as somebody is there; with nobody there nothing wakes.
    private func passTime() async {
        while !board.isEmpty, !Task.isCancelledOrShuttingDown {
            // Silence is no event: that somebody has gone shows only by time passing.
            try? await Task.sleep(for: Self.tick)
            apply(board.advance(to: .now))
        }
    }

    private func apply(_ changes: ProximityBoard.Changes) {
        for eid in changes.lost {
            lastTold[eid] = nil
            nearSince[eid] = nil
            hub.publish(.presenceLost(eid))
        }
        for eid in changes.changed {
            guard let presence = board[eid] else { continue }
            counts.verdicts[presence.verdict, default: 0] += 1
            lastTold[eid] = .now
            // Only what a person could pay is worth a question to the server.
            if presence.verdict != .far { resolver.want(eid) }
            hub.publish(
                .presenceChanged(view(of: presence, at: .now, session: resolver.cached(eid)))
            )
        }
    }

    private func tellLevel(of eid: EID, at now: MonotonicTime) {
        if let last = lastTold[eid], now - last < Self.levelInterval { return }
        tell(eid)
    }

    private func tell(_ eid: EID) {
        guard let presence = board[eid] else { return }
        lastTold[eid] = .now
        // Only what a person could pay is worth a question to the server; it asks again by itself
        // when an answer has grown old or there was none.
        if presence.verdict != .far { resolver.want(eid) }
        hub.publish(.presenceChanged(view(of: presence, at: .now, session: resolver.cached(eid))))
    }

    private func view(
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
