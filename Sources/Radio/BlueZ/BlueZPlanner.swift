import BlueZ
import GotchuCore

/// What is wanted of BlueZ, what it does, and what to do next about the difference.
///
/// Pure: events and the time go in, actions come out one after the other. An action of an earlier
/// `epoch` (before bluetoothd or the adapter went away) changes nothing any more.
struct BlueZPlanner: Sendable {
    enum Action: Equatable, Sendable {
        /// Set the filter and start discovery; `isRestart` if it may run already in some state.
        case startScan(isRestart: Bool)
        /// Stop discovery, which nobody needs now.
        case stopScan
        /// Set another filter, which restarts the scan and so gives fresh samples.
        case refreshScan
        case register(EID)
        case unregister(EID)
        /// Have advertisements matched beside discovery.
        case startMonitor
        /// End the connection to the bus; another is opened.
        case reconnect
        /// Switch the adapter off and on.
        case powerCycle
        /// Switch the adapter on, which we had switched off.
        case powerOn
    }

    /// How far the way to bluetoothd is.
    enum Link: Equatable, Sendable {
        case connecting
        case noBus(String?)
        case noBlueZ
        /// bluetoothd runs under this unique name, its objects are not known yet.
        case asking(String?)
        case up
    }

    enum Scan: Equatable {
        case off(isRestart: Bool)
        case on
    }

    private(set) var link = Link.connecting
    private(set) var epoch = 0
    private(set) var adapter: AdapterState?
    private let adapterName: String?
    let canPowerCycle: Bool
    let timings: RecoveryTimings

    var advertisements: [EID: PlannedAdvertisement] = [:]
    /// Why a new advertisement did not come to be; taken by whoever waits.
    var refusals: [EID: RadioFailure] = [:]

    var monitor = MonitorPlan()
    /// Whether a monitor is wanted, where bluetoothd offers one.
    var usesMonitor = false
    /// A Boolean that is true while the scan is wanted.
    private(set) var isScanWanted = true
    var scan = Scan.off(isRestart: false)
    var scanRetry: Retry
    var scanFailure: RadioFailure?
    /// Since when the kernel says that it is busy with another scan.
    private var busySince: MonotonicTime?
    var watch: ScanWatch
    var ladder: RecoveryLadder
    /// The rung that the last action belongs to, until it is taken.
    var step: RecoveryStep?
    var recovery = RecoveryCounts()
    /// Calls in a row that bluetoothd left without an answer.
    var timeouts = 0
    /// bluetoothd has its name and has not told its objects in time.
    private(set) var isNotAnswering = false
    /// The connection was ended by ourselves, and the ladder is to be climbed on.
    var isReconnecting = false
    /// We have switched the adapter off and not yet on again.
    var isPowerOwed = false
    var powerRetry: Retry
    var controller: ControllerWatch
    var filter: FilterWatch
    var burst = CommandBurst()
    /// The controller was mute, and whether the scan goes on is not known.
    var isScanDoubted = false
    var muteAttempts = 0
    /// At the last of them the kernel told the controller nothing.
    var isAttemptIgnored = false
    var lastMuteAttempt: MonotonicTime?
    /// What was counted before the last rung for a controller that was mute.
    var trafficBefore: ControllerTraffic?
    /// When that was.
    var muteStepAt: MonotonicTime?
    private var refresher = SampleRefresher()
    /// What was heard has ended the ladder.
    private var hearing = Hearing.nothing

    /// - Parameters:
    ///   - adapterName: `hci0`; `nil` for the first that is powered.
    ///   - canPowerCycle: whether the adapter may be switched off and on, for everybody.
    init(
        adapterName: String?,
        canPowerCycle: Bool = false,
        timings: RecoveryTimings = RecoveryTimings()
    ) {
        self.adapterName = adapterName
        self.canPowerCycle = canPowerCycle
        self.timings = timings
        scanRetry = Retry(timings: timings)
        powerRetry = Retry(timings: timings)
        watch = ScanWatch(timings: timings)
        ladder = RecoveryLadder(timings: timings)
        controller = ControllerWatch(timings: timings)
        filter = FilterWatch(timings: timings)
    }

    // MARK: What happens

    mutating func linkChanged(_ link: Link) {
        guard self.link != link else { return }
        self.link = link
        adapter = nil
        isNotAnswering = false
        // With the connection or bluetoothd went all that it had.
        advertisements = advertisements.filter(\.value.isWanted)
        startAfresh()
        for eid in advertisements.keys { advertisements[eid]?.stage = .off }
        refuseNewIfHopeless()
    }

    /// bluetoothd, which has its name, does not tell its objects.
    mutating func notAnswering() {
        isNotAnswering = true
        refuseNewIfHopeless()
    }

    /// Starts or ends the wish to scan; after either nothing is known to be wrong with the scan.
    mutating func scanWanted(_ isWanted: Bool) {
        guard isScanWanted != isWanted else { return }
        isScanWanted = isWanted
        if scan == .on { scan = .off(isRestart: true) }
        scanRetry = Retry(timings: timings)
        scanFailure = nil
        busySince = nil
        isScanDoubted = false
        watch = ScanWatch(timings: timings)
        burst = CommandBurst()
        refresher.reset()
        ladder.proved()
    }

    mutating func adaptersChanged(_ adapters: [AdapterState], now: MonotonicTime) {
        link = .up
        isNotAnswering = false
        let before = adapter
        adapter = choose(from: adapters)
        if before?.path != adapter?.path || before?.isPowered != adapter?.isPowered
            || before?.canAdvertise != adapter?.canAdvertise
            || before?.powerBlinks != adapter?.powerBlinks
        {
            startAfresh()
        } else if let adapter, before?.isDiscovering != adapter.isDiscovering,
            watch.discoveringChanged(to: adapter.isDiscovering, now: now)
        {
            ladder.proved()
        }
        if before?.canMonitor != adapter?.canMonitor { monitor = MonitorPlan() }
        if adapter != nil { isReconnecting = false }
        if before?.isPowered == false, adapter?.isPowered == true { isPowerOwed = false }
        refuseNewIfHopeless()
    }

    /// An advertisement of ours was heard on our adapter.
    mutating func heard(_ sighting: Sighting) {
        noticed(now: sighting.time)
        guard advertisements[sighting.eid] == nil else { return }
        if refresher.heard(sighting), hearing == .nothing { hearing = .hurry }
    }

    /// Anything was heard on our adapter.
    mutating func noticed(now: MonotonicTime) {
        watch.heard(now: now)
        guard ladder.reason?.isDisprovedByHearing == true else { return }
        ladder.proved()
        hearing = .proof
    }

    /// What hearing something can bring about.
    enum Hearing {
        /// What was to be done is to be done, and no sooner.
        case nothing
        /// `hearingDeadline` may have come nearer.
        case hurry
        /// The scan is proved to live.
        case proof
    }

    /// What was brought about by all that was heard since this was last asked.
    mutating func takeHearing() -> Hearing {
        defer { hearing = .nothing }
        return hearing
    }

    /// The one part of `nextDeadline` that something heard can bring forward.
    func hearingDeadline(now: MonotonicTime) -> MonotonicTime? {
        scan == .on && !ladder.isClimbing && !controller.isMute
            ? refresher.nextRestart(now: now) : nil
    }

    /// Signals were lost. What we have at bluetoothd may be gone without our knowing.
    mutating func signalsLost(now: MonotonicTime) {
        recovery.signalLosses += 1
        noticed(now: now)
        for (eid, advertisement) in advertisements where advertisement.stage == .on {
            advertisements[eid]?.stage = .unclear
        }
    }

    mutating func finished(
        _ action: Action,
        _ result: Result<Void, RadioFailure>,
        epoch: Int,
        now: MonotonicTime
    ) {
        if action == .powerCycle { powerCycleFinished(result) }
        guard epoch == self.epoch else { return }
        switch action {
        case .startScan: scanFinished(result, now: now)
        case .stopScan: stopFinished(result, now: now)
        case .refreshScan:
            refresher.restarted(now: now)
            switch result {
            case .success: filter.taken(now: now)
            case .failure: scan = .off(isRestart: true)
            }
        case .register(let eid):
            filter.disturbed()
            registerFinished(eid, result, now: now)
        case .unregister(let eid):
            filter.disturbed()
            unregisterFinished(eid, result, now: now)
        case .startMonitor:
            monitor.finished(result)
            // That it took a monitor says nothing about a scan that it refuses.
            if case .success = result { return }
        case .powerOn:
            if case .failure = result { powerRetry.failed(now: now) }
        case .reconnect, .powerCycle: return
        }
        noteAnswer(result)
    }

    // MARK: What to do

    /// The next thing to do now; `nil` if there is none before `nextDeadline`.
    mutating func next(now: MonotonicTime) -> Action? {
        guard link == .up, let adapter else { return nil }
        guard adapter.isPowered else {
            return isPowerOwed && powerRetry.isDue(now: now) ? .powerOn : nil
        }
        if let action = nextReconnection(now: now) { return action }
        if adapter.canAdvertise, let action = nextAdvertising(now: now) { return action }
        guard isScanWanted else { return nextStop(now: now) }
        if !controller.isMute, let action = nextMonitoring(now: now) { return action }
        let action = controller.isMute ? nextWhileMute(now: now) : nextScanning(now: now)
        guard let action else { return nil }
        // `Discovering` may change before the answer comes.
        filter.asked()
        if case .startScan = action { watch.starting(now: now) }
        if action == .refreshScan { watch.refreshing(now: now) }
        return action
    }

    /// A scan that may run and is not wanted is stopped; not while the command would be lost.
    private func nextStop(now: MonotonicTime) -> Action? {
        scan != .off(isRestart: false) && !controller.isMute && scanRetry.isDue(now: now)
            ? .stopScan : nil
    }

    private mutating func nextScanning(now: MonotonicTime) -> Action? {
        switch scan {
        case .off(let isRestart):
            return scanRetry.isDue(now: now) ? .startScan(isRestart: isRestart) : nil
        case .on:
            if let action = nextRecovery(now: now) { return action }
            guard !ladder.isClimbing, !isKernelWaiting(now: now),
                let restart = refresher.nextRestart(now: now),
                restart <= now
            else { return nil }
            return .refreshScan
        }
    }

    /// When `next`, which has nothing to do now, may have something although nothing happened.
    func nextDeadline(now: MonotonicTime) -> MonotonicTime? {
        guard link == .up, let adapter else { return nil }
        guard adapter.isPowered else { return isPowerOwed ? powerRetry.due : nil }
        var deadlines: [MonotonicTime?] = [ladder.due]
        if usesMonitor, adapter.canMonitor { deadlines.append(monitor.due) }
        if adapter.canAdvertise {
            deadlines += advertisements.values.filter(\.needsAction).map(\.retry.due)
        }
        if !isScanWanted {
            deadlines.append(scanRetry.due)
        } else if controller.isMute {
            deadlines.append(muteDue)
        } else if scan == .on {
            deadlines.append(watch.nextDeadline(filter: filter.effect))
            deadlines.append(silenceLimit)
            if isScanDoubted { deadlines.append(controller.freeAt) }
            deadlines.append(refresher.nextRestart(now: now))
        } else {
            deadlines.append(scanRetry.due)
        }
        // What was due before now has been looked at.
        return deadlines.compactMap { $0 }.filter { $0 > now }.min()
    }
}

// MARK: -

extension BlueZPlanner {
    private func choose(from adapters: [AdapterState]) -> AdapterState? {
        if let adapterName { return adapters.first { $0.name == adapterName } }
        let current = adapters.first { $0.path == adapter?.path && $0.isPowered }
        // One that we have switched off comes back: no other takes its place meanwhile.
        let owed = isPowerOwed ? adapters.first { $0.path == adapter?.path } : nil
        return current ?? owed ?? adapters.first(where: \.isPowered) ?? adapters.first
    }

    /// Nothing that was registered or started is any more. bluetoothd keeps some of it while an
    /// adapter is off, which `register` and `startScan(isRestart:)` tolerate; what is not wanted
    /// any more is still taken off when the adapter is back.
    private mutating func startAfresh() {
        epoch += 1
        for (eid, advertisement) in advertisements {
            if advertisement.stage != .off { advertisements[eid]?.stage = .unclear }
            advertisements[eid]?.retry = Retry(timings: timings)
        }
        scan = .off(isRestart: scan == .on)
        scanRetry = Retry(timings: timings)
        scanFailure = nil
        busySince = nil
        monitor = MonitorPlan()
        powerRetry = Retry(timings: timings)
        timeouts = 0
        watch = ScanWatch(timings: timings)
        controller = ControllerWatch(timings: timings)
        filter = FilterWatch(timings: timings)
        burst = CommandBurst()
        isScanDoubted = false
        // What comes now may be well, unless it was our own doing.
        if !isReconnecting, !isPowerOwed { ladder.proved() }
        refresher.reset()
    }

    /// Whoever wants something new on the air is told at once when it cannot be.
    mutating func refuseNewIfHopeless() {
        guard let hopeless else { return }
        for eid in advertisements.filter(\.value.isNew).keys { refuse(eid, hopeless) }
    }

    private mutating func stopFinished(_ result: Result<Void, RadioFailure>, now: MonotonicTime) {
        if case .failure(let failure) = result, failure.code == .timedOut {
            scan = .off(isRestart: true)
            scanRetry.failed(now: now, wasSlow: true)
        } else {
            // A refusal means that nothing ran (`InProgress`, `Failed`).
            scan = .off(isRestart: false)
        }
    }

    private mutating func scanFinished(
        _ result: Result<Void, RadioFailure>,
        now: MonotonicTime
    ) {
        switch result {
        case .success:
            scan = .on
            scanRetry = Retry(timings: timings)
            scanFailure = nil
            busySince = nil
            watch.started(isDiscovering: adapter?.isDiscovering == true, now: now)
            filter.taken(now: now)
        case .failure(let failure):
            scan = .off(isRestart: true)
            scanFailure = failure
            busySince = failure.code == .scanBusy ? busySince ?? now : nil
            if let busySince, now - busySince < timings.busyLimit {
                scanRetry.wasBusy(now: now)
            } else {
                scanRetry.failed(now: now, wasSlow: failure.code == .timedOut)
            }
        }
    }
}
