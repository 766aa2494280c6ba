import BlueZ
import GotchuCore

extension BlueZPlanner {
    /// Attempts while the controller is mute, after which there are fewer.
    private static let eagerAttempts = 20

    /// Whether what the kernel counts of the adapter says anything now.
    var watchesController: Bool { link == .up && adapter?.isPowered == true }

    /// What the kernel has counted by now.
    ///
    /// - Returns: what has changed about the controller, if anything.
    mutating func controllerLooked(
        _ traffic: ControllerTraffic,
        now: MonotonicTime
    ) -> ControllerWatch.Change? {
        let before = controller.last
        let change = controller.looked(traffic, now: now)
        judgeScan(by: traffic.since(before ?? traffic), isFirst: before == nil, now: now)
        switch change {
        case .fellMute:
            muteAttempts = 0
            isAttemptIgnored = false
            isScanDoubted = !isChangingAdvertisements
        case .answersAgain: answersAgain()
        case nil:
            if controller.lastCommand == now, !isChangingAdvertisements { isScanDoubted = true }
            proveScan(by: traffic, now: now)
        }
        return change
    }

    /// What is done while the controller leaves commands without an answer: no more than keeps the
    /// scan asked for.
    ///
    /// A scan that runs must not be stopped now. The command would be lost, and the kernel would
    /// wait for that stop for ever. Once the cycle's own end was lost it runs no more for the
    /// kernel, and another filter makes bluetoothd start it without stopping anything.
    mutating func nextWhileMute(now: MonotonicTime) -> Action? {
        guard let due = muteDue, due <= now else { return nil }
        // The kernel did not even try: it waits for the end of a scan, which it has lost.
        isAttemptIgnored =
            lastMuteAttempt.map { attempt in
                controller.lastCommand.map { $0 < attempt && isSilenceTelling(since: $0, now) }
                    ?? true
            } ?? false
        muteAttempts += 1
        lastMuteAttempt = now
        let isHopeless = isKernelStuck && canPowerCycle && !monitor.hearsAlone
        let rung: RecoveryRung =
            isHopeless ? .powerCycle : scan == .on ? .refilter : .restart
        return take(rung, for: .mute, now: now)
    }

    /// Whether it means that the kernel is stuck if it tells the controller nothing after a filter
    /// of ours. Beside another program's wider filter, or while there may be one, only the scan's
    /// next cycle must show: everybody's adapter is not switched off on a guess.
    private func isSilenceTelling(since: MonotonicTime, _ now: MonotonicTime) -> Bool {
        filter.effect == .restarts || now - since >= timings.nextCycle
    }

    /// Whether the kernel's counts may answer what is to be judged now.
    func isControllerInQuestion(now: MonotonicTime) -> Bool {
        isScanDoubted || scan == .on && watch.isQuestion(now: now)
    }

    /// Whether the kernel may still wait for a lost command's answer, so that every start fails.
    func isKernelWaiting(now: MonotonicTime) -> Bool {
        let freeAt = isScanDoubted ? controller.freeAt : lossDue
        return freeAt.map { $0 > now } ?? false
    }

    /// From when on a scan whose next cycle did not begin is asked for.
    var lossDue: MonotonicTime? { watch.lossDue(filter: filter.effect) }

    /// Until the controller is looked at again.
    var lookInterval: Duration { burst.isOpen ? timings.closeLook : controller.interval }

    /// The kernel tells no more what it counts.
    mutating func controllerHidden() {
        burst = CommandBurst()
        watch.forgetCycle()
    }

    /// Until when silence after the last rung says nothing; `nil` where it tells at once.
    var silenceLimit: MonotonicTime? {
        guard ladder.reason == .mute, filter.effect != .restarts else { return nil }
        return muteStepAt.map { $0 + timings.nextCycle }
    }

    /// The kernel waits for ever for the end of a scan, as long as the adapter is on.
    var isKernelStuck: Bool {
        controller.isMute
            ? isAttemptIgnored
            : ladder.isExhausted && ladder.reason == .mute
    }

    /// When something is next done about a mute controller.
    var muteDue: MonotonicTime? {
        guard let since = controller.muteSince, let lastCommand = controller.lastCommand else {
            return nil
        }
        let pause =
            muteAttempts < Self.eagerAttempts && !isKernelStuck
            ? timings.commandLimit : timings.firstRest
        let last = lastMuteAttempt.map { max($0, lastCommand) } ?? lastCommand
        // A command for an advertisement says nothing of the scan, which ends by itself in time.
        return isScanDoubted ? last + pause : max(last + pause, since + timings.scanCycle)
    }

    /// Whether the kernel has told the controller anything since the last rung: it is not stuck
    /// then.
    var isKernelTrying: Bool {
        guard let before = trafficBefore, let last = controller.last else { return false }
        return last.commands != before.commands
    }

    private var isChangingAdvertisements: Bool {
        advertisements.values.contains { advertisement in
            switch advertisement.stage {
            case .registering, .unregistering: true
            case .off, .unclear, .on: false
            }
        }
    }

    /// It answers: nobody knows what it still does of what it did.
    private mutating func answersAgain() {
        for (eid, advertisement) in advertisements {
            if advertisement.stage == .on { advertisements[eid]?.stage = .unclear }
            advertisements[eid]?.retry = Retry(timings: timings)
        }
        if scan != .on { scanRetry = Retry(timings: timings) }
        ladder.proved()
        lastMuteAttempt = nil
        isScanDoubted = true
    }

    /// - Parameter traffic: what was counted since the last look.
    private mutating func judgeScan(
        by traffic: ControllerTraffic,
        isFirst: Bool,
        now: MonotonicTime
    ) {
        // A controller that does not answer is not told much, whatever our filter does.
        let isUnclear =
            controller.isMute || isScanDoubted || isChangingAdvertisements || isFirst
        if isUnclear || controller.isSuspected { filter.disturbed() }
        filter.looked(traffic, now: now)
        guard !isUnclear, scan == .on else {
            burst = CommandBurst()
            return
        }
        switch burst.looked(traffic, now: now) {
        case .began:
            watch.began(now: now)
            if ladder.reason?.isDisprovedByStart == true { ladder.proved() }
        case .broken(let lastCommand):
            watch.broken(lastCommand: lastCommand)
            // The rung was of no use, and the next time is told.
            if ladder.reason == .startLost { ladder.proved() }
        case nil: break
        }
    }

    /// A scan that was asked for has begun if the controller was told so, and has answered. Nothing
    /// that bluetoothd says shows it.
    private mutating func proveScan(by traffic: ControllerTraffic, now: MonotonicTime) {
        guard !controller.isMute, ladder.reason == .mute, let before = trafficBefore else { return }
        guard traffic.since(before).beginsScan else { return }
        ladder.proved()
        isScanDoubted = false
        trafficBefore = nil
        watch.began(now: now)
    }
}
