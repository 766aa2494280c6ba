import BlueZ
import GotchuCore
import Radio

/// The planner for BlueZ: compares the wanted state with the actual one and decides the next
/// action.
///
/// Performs no I/O: events and the time are parameters, and actions are returned one at a time.
/// Each of its parts decides one matter. The planner reports events to them and queries them in
/// order of priority. A new `epoch` begins when bluetoothd or the adapter changes. The result of an
/// action of an earlier epoch is ignored, except that of a power cycle.
struct BlueZPlanner: Sendable {
    /// The number of consecutive failures of one operation after which a new connection is tried.
    /// With the pauses between the attempts, this takes 1.75 s.
    static let failureLimit = 4
    /// The number of consecutive calls without an answer after which a new connection is tried. The
    /// bus itself refuses more than 128 calls that wait for their reply.
    static let timeoutLimit = 3

    private(set) var epoch = 0
    private(set) var link: AdapterLink
    private let canPowerCycle: Bool

    private var power: PowerPlan
    private(set) var advertising: AdvertisingPlan
    private(set) var scan: ScanPlan
    private(set) var controller: ControllerRecovery
    private(set) var ladder: RecoveryLadder
    /// The rung that the last action belongs to, until it is popped.
    private var step: RecoveryStep?
    private(set) var recovery = RecoveryCounts()
    /// The number of consecutive calls that bluetoothd left unanswered.
    private var timeouts = 0
    /// A Boolean that is true after we closed the connection ourselves: recovery then continues.
    private(set) var isReconnecting = false

    /// - Parameters:
    ///   - adapterName: The name or the address; `nil` for the first adapter that is powered.
    ///   - canPowerCycle: True if the adapter may be switched off and on, for all programs.
    init(
        adapterName: String?,
        canPowerCycle: Bool = false,
        timings: RecoveryTimings = RecoveryTimings()
    ) {
        link = AdapterLink(adapterName: adapterName)
        self.canPowerCycle = canPowerCycle
        power = PowerPlan(timings: timings)
        advertising = AdvertisingPlan(timings: timings)
        scan = ScanPlan(timings: timings)
        controller = ControllerRecovery(timings: timings)
        ladder = RecoveryLadder(timings: timings)
    }

    var adapter: AdapterState? { link.adapter }

    // MARK: Requests

    mutating func requestAdvertising(_ eid: EID) {
        advertising.requestAdvertising(eid)
        refuseNewIfBlocked()
    }

    mutating func cancelAdvertising(_ eid: EID) { advertising.cancelAdvertising(eid) }

    /// Returns the outcome of a requested advertisement; `nil` while it is pending.
    mutating func outcome(of eid: EID) -> Result<Void, RadioFailure>? {
        advertising.outcome(of: eid)
    }

    /// Refuses a new advertisement that bluetoothd has not registered in time.
    mutating func giveUp(_ eid: EID) { advertising.giveUp(eid) }

    /// Records whether a scan is wanted.
    mutating func wantScan(_ isWanted: Bool) {
        guard scan.isWanted != isWanted else { return }
        scan.want(isWanted)
        controller.forgetScan()
        ladder.proved()
    }

    /// Returns true if an advertisement may still be on the air, or go on the air by itself.
    func isOnAir(_ eid: EID) -> Bool {
        advertising.contains(eid) && link.isPowered
    }

    // MARK: Events

    mutating func linkChanged(_ stage: AdapterLink.Stage) {
        guard link.changed(to: stage) else { return }
        advertising.bluetoothdLeft()
        reset()
        refuseNewIfBlocked()
    }

    /// Records that another connection to the bus was opened.
    mutating func reconnected() { recovery.busReconnects += 1 }

    /// Records that bluetoothd owns its name but does not list its objects.
    mutating func notAnswering() {
        link.notAnswering()
        refuseNewIfBlocked()
    }

    mutating func adaptersChanged(_ adapters: [AdapterState], now: MonotonicTime) {
        // An adapter that we switched off will come back: no other replaces it meanwhile.
        let before = link.adaptersChanged(adapters, isKept: power.isPowerOnPending)
        if before?.path != adapter?.path || before?.isPowered != adapter?.isPowered
            || before?.canAdvertise != adapter?.canAdvertise
            || before?.powerToggleCount != adapter?.powerToggleCount
        {
            reset()
        } else if let adapter, before?.isDiscovering != adapter.isDiscovering,
            scan.discoveringChanged(to: adapter.isDiscovering, now: now)
        {
            ladder.proved()
        }
        if adapter != nil { isReconnecting = false }
        if before?.isPowered == false, adapter?.isPowered == true { power.poweredOn() }
        refuseNewIfBlocked()
    }

    /// Handles the release of an advertisement by bluetoothd, without a request of ours.
    mutating func released(_ eid: EID) { advertising.released(eid) }

    /// Handles a sighting on our adapter.
    @discardableResult
    mutating func heard(_ sighting: Sighting) -> ReceptionEffect {
        let hearing = receivedOther(now: sighting.time)
        guard !advertising.contains(sighting.eid), scan.heard(sighting), hearing == .nothing else {
            return hearing
        }
        return .earlierDeadline
    }

    /// Handles any other advertisement received on our adapter.
    @discardableResult
    mutating func receivedOther(now: MonotonicTime) -> ReceptionEffect {
        scan.noticed(now: now)
        guard ladder.reason?.isDisprovedByHearing == true else { return .nothing }
        ladder.proved()
        return .scanProved
    }

    mutating func finished(
        _ action: Action,
        _ result: Result<Void, RadioFailure>,
        epoch: Int,
        now: MonotonicTime
    ) {
        if action == .powerCycle { power.cycleFinished(result, isPowered: adapter?.isPowered) }
        guard epoch == self.epoch else { return }
        switch action {
        case .startScan:
            scan.started(result, isDiscovering: adapter?.isDiscovering == true, now: now)
        case .stopScan: scan.stopped(result, now: now)
        case .refreshScan: scan.refreshed(result, now: now)
        case .register(let eid):
            scan.markCountsUnclear()
            let isExcused = controller.mayHaveLostCommand(now: now)
            advertising.registered(eid, result, isRetryable: isExcused, now: now)
        case .unregister(let eid):
            scan.markCountsUnclear()
            advertising.unregistered(eid, result, now: now)
        case .powerOn:
            if case .failure = result { power.powerOnFailed(now: now) }
        case .reconnect, .powerCycle: return
        }
        answered(result)
    }

    /// Handles the result of a call: any answer shows that bluetoothd is alive.
    private mutating func answered(_ result: Result<Void, RadioFailure>) {
        if case .failure(let failure) = result, failure.code == .timedOut {
            timeouts += 1
            return
        }
        timeouts = 0
        // bluetoothd answers in order: the result of switching the adapter off is known by now.
        if adapter?.isPowered == true { power.poweredOn() }
        switch ladder.reason {
        case .notAnswering, .stuckAdvertisement: ladder.proved()
        case .refused:
            if case .success = result { ladder.proved() }
        case .silent, .notRestarted, .cycleStopped, .startLost, .ended, .unresponsive, nil: break
        }
    }

    /// Resets everything: bluetoothd may have kept registrations or the scan. `register` and
    /// `startScan(isRestart:)` work in both cases.
    private mutating func reset() {
        epoch += 1
        advertising.adapterChanged()
        scan.reset()
        power.resetRetry()
        controller.reset()
        timeouts = 0
        // Recovery starts over, unless it caused this change itself.
        if !isReconnecting, !power.isPowerOnPending { ladder.proved() }
    }

    /// Refuses new advertisements at once when nothing can be registered.
    private mutating func refuseNewIfBlocked() {
        if let failure = link.blockingFailure { advertising.refuseNew(failure) }
    }

    /// The pause before the controller's counts are read again.
    var pollInterval: Duration { scan.pollInterval ?? controller.pollInterval }

    /// - Parameter traffic: The kernel's current counts.
    /// - Returns: The controller's change of state; `nil` if there is none.
    mutating func readCounts(
        _ traffic: ControllerTraffic,
        now: MonotonicTime
    ) -> ControllerWatch.Change? {
        let before = controller.counts
        let isUncertain = controller.isScanUncertain || advertising.isChanging || before == nil
        let change = controller.readCounts(
            traffic,
            isAdvertisingChanging: advertising.isChanging,
            now: now
        )
        let finding = scan.readCounts(
            traffic.since(before ?? traffic),
            isUnclear: isUncertain || controller.isUnresponsive,
            isSuspected: controller.isSuspected,
            now: now
        )
        switch finding {
        case .scanStarted where ladder.reason?.isDisprovedByStart == true: ladder.proved()
        // The rung did not help; the time of the next attempt is already set.
        case .endedWithoutScan where ladder.reason == .startLost: ladder.proved()
        case .scanStarted, .endedWithoutScan, nil: break
        }
        switch change {
        case .stoppedAnswering: break
        case .answersAgain:
            // It is unknown which advertisements it still sends.
            advertising.renew()
            scan.controllerAnswered()
            ladder.proved()
        case nil where ladder.reason == .unresponsive && controller.provesScan(traffic):
            ladder.proved()
            scan.began(now: now)
        case nil: break
        }
        return change
    }

    /// Records that the kernel no longer provides its counts.
    mutating func controllerHidden() { scan.countsHidden() }

    /// Returns true if the kernel may still wait for the answer to a lost command. Every start
    /// fails during that time.
    private func isKernelWaiting(now: MonotonicTime) -> Bool {
        let end = controller.isScanUncertain ? controller.commandTimeoutAt : scan.lossDue
        return end.map { $0 > now } ?? false
    }

    /// The earliest time at which missing commands after the last recovery step show a failure;
    /// `nil` if they show it at once.
    private var silenceLimit: MonotonicTime? {
        ladder.reason == .unresponsive
            ? controller.silenceLimit(filter: scan.filterEffect) : nil
    }
}

// MARK: - Actions

extension BlueZPlanner {
    /// Returns the next action; `nil` if there is none before `nextDeadline`.
    mutating func next(now: MonotonicTime) -> Action? {
        guard let adapter = link.usable else { return nil }
        guard adapter.isPowered else { return power.next(now: now) }
        if let action = nextReconnection(now: now) { return action }
        if adapter.canAdvertise, let action = advertising.next(now: now) { return action }
        if controller.isUnresponsive, !scan.isWanted { return nextProbe(now: now) }
        let action = controller.isUnresponsive ? nextUnresponsive(now: now) : nextScan(now: now)
        if let action { scan.sent(for: action, now: now) }
        return action
    }

    /// Returns the time at which `next` may have an action without any event; it has none now.
    func nextDeadline(now: MonotonicTime) -> MonotonicTime? {
        guard let adapter = link.usable else { return nil }
        guard adapter.isPowered else { return power.nextDeadline }
        var deadlines = [ladder.due]
        if adapter.canAdvertise { deadlines += advertising.deadlines }
        if controller.isUnresponsive {
            deadlines.append(scan.isWanted ? controller.nextDeadline : controller.probeDue)
        } else {
            deadlines += scan.deadlines(now: now)
            if scan.isOn {
                deadlines.append(silenceLimit)
                if controller.isScanUncertain { deadlines.append(controller.commandTimeoutAt) }
            }
        }
        // Deadlines in the past have been handled.
        return deadlines.compactMap { $0 }.filter { $0 > now }.min()
    }

    /// Removes and returns the rung that the last action belongs to.
    mutating func popStep() -> RecoveryStep? { step.take() }

    /// Returns a reconnection or a power cycle if bluetoothd fails again and again.
    private mutating func nextReconnection(now: MonotonicTime) -> Action? {
        // A reconnection would end the scan, and the command to stop it would be lost.
        guard !controller.isUnresponsive else { return nil }
        if timeouts >= Self.timeoutLimit { return climb(for: .notAnswering, now: now) }
        if scan.failures >= Self.failureLimit { return climb(for: .refused, now: now) }
        guard advertising.isStuck(after: Self.failureLimit) else { return nil }
        return climb(for: .stuckAdvertisement, now: now)
    }

    private mutating func nextUnresponsive(now: MonotonicTime) -> Action? {
        let rung = controller.next(
            filter: scan.filterEffect,
            isScanOn: scan.isOn,
            canPowerCycle: canPowerCycle,
            now: now
        )
        return rung.map { climbed(to: $0, for: .unresponsive, now: now) }
    }

    /// Returns the probe of an unresponsive controller while no scan is wanted: all advertisements
    /// are registered again, and answers to these commands show that it has recovered. Without any,
    /// it cannot be probed, and is no longer regarded as unresponsive.
    private mutating func nextProbe(now: MonotonicTime) -> Action? {
        // Before `due`, a command to stop a scan would be lost.
        guard let due = controller.probeDue, due <= now else { return nil }
        if adapter?.canAdvertise == true, advertising.renew() {
            controller.probed(now: now)
            return advertising.next(now: now)
        }
        controller.forgetUnresponsive()
        return scan.next(now: now)
    }

    private mutating func nextScan(now: MonotonicTime) -> Action? {
        guard scan.isOn else { return scan.next(now: now) }
        if let action = nextRecovery(now: now) { return action }
        guard !ladder.isClimbing, !isKernelWaiting(now: now),
            let refresh = scan.nextRefresh(now: now), refresh <= now
        else { return nil }
        return .refreshScan
    }

    /// Returns the next action for a scan that should run but shows no sign of life.
    private mutating func nextRecovery(now: MonotonicTime) -> Action? {
        guard ladder.isClimbing, let reason = ladder.reason else {
            if isKernelWaiting(now: now) { return nil }
            let suspicion = controller.isScanUncertain ? .unresponsive : scan.suspicion(now: now)
            return suspicion.flatMap { climb(for: $0, now: now) }
        }
        guard ladder.isDue(now: now) else { return nil }
        if reason == .unresponsive {
            if controller.isKernelTrying {
                ladder.proved()
            } else if silenceLimit.map({ now < $0 }) ?? false {
                return nil
            }
        }
        if let action = climb(for: reason, now: now) { return action }
        if reason.isGuess {
            scan.discardSuspicion(reason, now: now)
            ladder.proved()
        }
        return nil
    }

    private mutating func climb(for reason: RecoveryReason, now: MonotonicTime) -> Action? {
        let top: RecoveryRung =
            reason.isGuess ? .restart : canPowerCycle ? .powerCycle : .reconnect
        guard let rung = ladder.climb(for: reason, top: top, now: now) else { return nil }
        return climbed(to: rung, for: reason, now: now)
    }

    /// Counts a rung and returns its action.
    private mutating func climbed(
        to rung: RecoveryRung,
        for reason: RecoveryReason,
        now: MonotonicTime
    ) -> Action {
        recovery.count(rung)
        step = RecoveryStep(rung: rung, reason: reason)
        if reason == .unresponsive { controller.recordRung(now: now) }
        switch rung {
        case .refilter: return .refreshScan
        case .restart:
            scan.restarting()
            return .startScan(isRestart: true)
        case .reconnect:
            isReconnecting = true
            return .reconnect
        case .powerCycle:
            power.cycleStarted()
            return .powerCycle
        }
    }
}
