import BlueZ
import GotchuCore
import Radio

/// The scan: its start and stop, the detection of its faults, and its restarts for fresh samples.
/// The time is a parameter.
struct ScanPlan: Sendable {
    private enum Stage: Equatable {
        case off(isRestart: Bool)
        case on
    }

    /// A Boolean that is true while the scan is wanted. If it is false, a scan that may run is
    /// stopped.
    private(set) var isWanted = false
    private var stage = Stage.off(isRestart: false)
    /// The reason why the last start failed; `nil` if it did not.
    private(set) var failure: RadioFailure?
    /// The time since which every start has failed because the kernel is busy with another scan.
    private var busySince: MonotonicTime?
    private var retry: Retry
    private var watch: ScanWatch
    private var filter: FilterWatch
    private var burst = CommandBurst()
    private var refresher = SampleRefresher()
    private let timings: RecoveryTimings

    init(timings: RecoveryTimings) {
        self.timings = timings
        retry = Retry(timings: timings)
        watch = ScanWatch(timings: timings)
        filter = FilterWatch(timings: timings)
    }

    /// Handles a change of bluetoothd or of the adapter, for example its loss or its power. The
    /// next start is a restart if bluetoothd may have kept our scan.
    mutating func reset() {
        let (isWanted, mayRun) = (isWanted, stage != .off(isRestart: false))
        self = ScanPlan(timings: timings)
        self.isWanted = isWanted
        stage = .off(isRestart: mayRun)
    }

    /// Records whether a scan is wanted. The known faults of the scan are forgotten.
    mutating func want(_ isWanted: Bool) {
        let (filter, mayRun) = (filter, stage != .off(isRestart: false))
        self = ScanPlan(timings: timings)
        self.isWanted = isWanted
        self.filter = filter
        stage = .off(isRestart: mayRun)
    }

    // MARK: State

    var isOn: Bool { stage == .on }

    private var isStopDue: Bool { !isWanted && stage == .off(isRestart: true) }

    /// The number of consecutive failed starts.
    var failures: Int { retry.failures }

    var filterEffect: FilterWatch.Effect { filter.effect }

    /// The time from which a scan whose next cycle did not begin is requested again.
    var lossDue: MonotonicTime? { watch.lossDue(filter: filter.effect) }

    /// The pause before the next reading of the kernel's counts; `nil` if the usual one is enough.
    /// It is set while recent commands are not judged yet, and while a lost start waits to be
    /// requested again. The kernel's next attempt to end the scan postpones that request.
    var pollInterval: Duration? {
        burst.pollInterval(timings) ?? (lossDue == nil ? nil : timings.fastPollInterval)
    }

    /// Returns true if a reading of the kernel's counts may settle a decision that is due now.
    func isInQuestion(now: MonotonicTime) -> Bool { isOn && watch.needsCounts(now: now) }

    // MARK: Advertisements

    /// Handles a sighting.
    ///
    /// - Returns: True if `nextRefresh` may be earlier now.
    mutating func heard(_ sighting: Sighting) -> Bool { refresher.heard(sighting) }

    /// Records that any advertisement was received.
    mutating func noticed(now: MonotonicTime) { watch.heard(now: now) }

    // MARK: Reports of bluetoothd and the kernel

    /// - Returns: True if the change is a sign of life.
    mutating func discoveringChanged(to isDiscovering: Bool, now: MonotonicTime) -> Bool {
        watch.discoveringChanged(to: isDiscovering, now: now)
    }

    /// - Parameters:
    ///   - traffic: The counts since the last reading.
    ///   - isUnclear: True if they may have another cause than the scan.
    ///   - isSuspected: True if answers of the controller are missing.
    /// - Returns: The finding about the scan; `nil` if there is none.
    mutating func readCounts(
        _ traffic: ControllerTraffic,
        isUnclear: Bool,
        isSuspected: Bool,
        now: MonotonicTime
    ) -> CommandBurst.Finding? {
        // The kernel sends few commands to an unresponsive controller, regardless of our filter.
        if isUnclear || isSuspected { filter.markCountsUnclear() }
        filter.readCounts(traffic, now: now)
        guard !isUnclear, isOn else {
            burst = CommandBurst()
            return nil
        }
        let finding = burst.readCounts(traffic, now: now)
        switch finding {
        case .scanStarted: watch.began(now: now)
        case .endedWithoutScan(let lastCommand):
            watch.burstEndedWithoutScan(lastCommand: lastCommand)
        case nil: break
        }
        return finding
    }

    /// Records that something other than a filter affects the counts until the next reading.
    mutating func markCountsUnclear() { filter.markCountsUnclear() }

    /// Records that the kernel no longer provides its counts.
    mutating func countsHidden() {
        burst = CommandBurst()
        watch.forgetCycle()
    }

    /// Records that the controller was told to scan.
    mutating func began(now: MonotonicTime) { watch.began(now: now) }

    /// Handles a controller that answers again: a failed start is retried at once.
    mutating func controllerAnswered() {
        if !isOn { retry = Retry(timings: timings) }
    }

    // MARK: Actions and their outcomes

    /// Records that a restart is about to be requested.
    mutating func restarting() { stage = .off(isRestart: true) }

    /// Records that an action on the scan is about to be carried out: `Discovering` may change
    /// before the reply.
    mutating func sent(for action: BlueZPlanner.Action, now: MonotonicTime) {
        filter.sent()
        switch action {
        case .startScan:
            // If the reply is lost, the scan may have started: the next start must be a restart.
            stage = .off(isRestart: true)
            watch.starting(now: now)
        case .refreshScan: watch.refreshing(now: now)
        case .stopScan, .register, .unregister, .reconnect, .powerCycle, .powerOn: break
        }
    }

    mutating func started(
        _ result: Result<Void, RadioFailure>,
        isDiscovering: Bool,
        now: MonotonicTime
    ) {
        switch result {
        case .success where !isWanted: stage = .off(isRestart: true)
        case .success:
            stage = .on
            retry = Retry(timings: timings)
            failure = nil
            busySince = nil
            watch.started(isDiscovering: isDiscovering, now: now)
            filter.accepted(now: now)
        case .failure where !isWanted: stage = .off(isRestart: true)
        case .failure(let failure):
            stage = .off(isRestart: true)
            self.failure = failure
            busySince = failure.code == .scanBusy ? busySince ?? now : nil
            if let busySince, now - busySince < timings.busyLimit {
                retry.postpone(now: now)
            } else {
                retry.failed(now: now, didTimeOut: failure.code == .timedOut)
            }
        }
    }

    /// - Parameter result: A refusal means that nothing ran (`InProgress`, `Failed`).
    mutating func stopped(_ result: Result<Void, RadioFailure>, now: MonotonicTime) {
        if case .failure(let failure) = result, failure.code == .timedOut {
            retry.failed(now: now, didTimeOut: true)
        } else {
            stage = .off(isRestart: false)
        }
    }

    mutating func refreshed(_ result: Result<Void, RadioFailure>, now: MonotonicTime) {
        refresher.restarted(now: now)
        switch result {
        case .success: filter.accepted(now: now)
        case .failure: stage = .off(isRestart: true)
        }
    }

    /// Records that a suspected fault was a wrong guess.
    mutating func discardSuspicion(_ reason: RecoveryReason, now: MonotonicTime) {
        watch.discardSuspicion(reason, now: now)
    }

    // MARK: Next actions

    /// Returns the start of a wanted scan that does not run, or the stop of an unwanted one, if it
    /// is due.
    func next(now: MonotonicTime) -> BlueZPlanner.Action? {
        guard case .off(let isRestart) = stage, retry.isDue(now: now) else { return nil }
        return isWanted ? .startScan(isRestart: isRestart) : isStopDue ? .stopScan : nil
    }

    /// Returns the suspected fault of the running scan; `nil` if there is none.
    func suspicion(now: MonotonicTime) -> RecoveryReason? {
        watch.suspicion(filter: filter.effect, now: now)
    }

    /// Returns the time at which the running scan is restarted for fresh samples; `nil` while there
    /// is no candidate.
    func nextRefresh(now: MonotonicTime) -> MonotonicTime? {
        isOn ? refresher.nextRestart(now: now) : nil
    }

    /// Returns the times at which an action may become due without any event.
    func deadlines(now: MonotonicTime) -> [MonotonicTime?] {
        isOn
            ? [watch.nextDeadline(filter: filter.effect), refresher.nextRestart(now: now)]
            : [retry.due]
    }
}
