import BlueZ
import GotchuCore

extension BlueZPlanner {
    /// Failures in a row of one thing, after which a new connection is tried. With the pauses
    /// between them that is after 3.75 s.
    static let failureLimit = 4
    /// Calls in a row without an answer, after which a new connection is tried. The bus itself
    /// refuses more than 128 calls that wait for their reply.
    static let timeoutLimit = 3

    /// The rung that the last action belongs to, once.
    mutating func takeStep() -> RecoveryStep? { step.take() }

    /// A new connection, when nothing less can help.
    mutating func nextReconnection(now: MonotonicTime) -> Action? {
        // With the connection went the scan, and the command to stop it would be lost.
        guard !controller.isMute else { return nil }
        if timeouts >= Self.timeoutLimit { return climb(for: .notAnswering, now: now) }
        if scanRetry.failures >= Self.failureLimit { return climb(for: .refused, now: now) }
        let isStuck = advertisements.values.contains { advertisement in
            !advertisement.isWanted && advertisement.needsAction
                && advertisement.retry.failures >= Self.failureLimit
        }
        return isStuck ? climb(for: .stuckAdvertisement, now: now) : nil
    }

    /// What is done about a scan that should run and shows no life.
    mutating func nextRecovery(now: MonotonicTime) -> Action? {
        guard ladder.isClimbing, let reason = ladder.reason else {
            if isKernelWaiting(now: now) { return nil }
            let suspicion =
                isScanDoubted ? .mute : watch.suspicion(filter: filter.effect, now: now)
            return suspicion.flatMap { climb(for: $0, now: now) }
        }
        guard ladder.isDue(now: now) else { return nil }
        if reason == .mute {
            if isKernelTrying {
                ladder.proved()
            } else if silenceLimit.map({ now < $0 }) ?? false {
                return nil
            }
        }
        if let action = climb(for: reason, now: now) { return action }
        if reason.isGuess {
            watch.unlearn(reason, now: now)
            ladder.proved()
        }
        return nil
    }

    private mutating func climb(for reason: RecoveryReason, now: MonotonicTime) -> Action? {
        let top: RecoveryRung =
            reason.isGuess || reason == .mute && monitor.hearsAlone
            ? .restart : canPowerCycle ? .powerCycle : .reconnect
        guard let rung = ladder.climb(for: reason, top: top, now: now) else { return nil }
        return take(rung, for: reason, now: now)
    }

    /// What a rung is; it is counted.
    mutating func take(
        _ rung: RecoveryRung,
        for reason: RecoveryReason,
        now: MonotonicTime
    ) -> Action {
        recovery.count(rung)
        step = RecoveryStep(rung: rung, reason: reason)
        if reason == .mute { (trafficBefore, muteStepAt) = (controller.last, now) }
        switch rung {
        case .refilter: return .refreshScan
        case .restart:
            scan = .off(isRestart: true)
            return .startScan(isRestart: true)
        case .reconnect:
            isReconnecting = true
            return .reconnect
        case .powerCycle:
            isPowerOwed = true
            return .powerCycle
        }
    }

    /// Any answer shows that bluetoothd is there.
    mutating func noteAnswer(_ result: Result<Void, RadioFailure>) {
        if case .failure(let failure) = result, failure.code == .timedOut {
            timeouts += 1
            return
        }
        timeouts = 0
        // It answers in order: what came of switching the adapter off is known by now.
        if adapter?.isPowered == true { isPowerOwed = false }
        switch ladder.reason {
        case .notAnswering, .stuckAdvertisement: ladder.proved()
        case .refused:
            if case .success = result { ladder.proved() }
        case .silent, .notRestarted, .cycleStopped, .startLost, .ended, .mute, nil: break
        }
    }

    mutating func powerCycleFinished(_ result: Result<Void, RadioFailure>) {
        switch result {
        case .success: isPowerOwed = false
        // It may still go off.
        case .failure(let failure) where failure.code == .timedOut: isPowerOwed = true
        // It was never off: whoever switches it off later means it.
        case .failure: isPowerOwed = adapter?.isPowered == false
        }
    }
}
