import BlueZ
import GotchuCore
import Radio

/// The recovery from a controller that leaves commands unanswered and may have lost the scan as a
/// result. The time is a parameter.
struct ControllerRecovery: Sendable {
    /// The number of frequent attempts while the controller is unresponsive; later ones are rarer.
    private static let eagerAttempts = 20

    private var watch: ControllerWatch
    /// A Boolean that is true if a command of the scan may have been lost. False again once the
    /// kernel's counts show a new scan, or after a reset or a change of the scan request.
    private(set) var isScanUncertain = false
    private var attempts = 0
    /// A Boolean that is true if the kernel sent the controller no command after the last attempt.
    private var isAttemptIgnored = false
    private var lastAttempt: MonotonicTime?
    /// The time of the last probe while no scan is wanted.
    private var lastProbe: MonotonicTime?
    /// The kernel's counts before the last recovery step that was taken because the controller was
    /// unresponsive.
    private var countsAtRung: ControllerTraffic?
    /// The time of that recovery step.
    private var rungTakenAt: MonotonicTime?
    private let timings: RecoveryTimings

    init(timings: RecoveryTimings) {
        self.timings = timings
        watch = ControllerWatch(timings: timings)
    }

    /// Handles a change of bluetoothd or of the adapter, for example its loss or its power. The
    /// counts before the last recovery step are kept, because they show a scan that begins after
    /// it.
    mutating func reset() {
        watch = ControllerWatch(timings: timings)
        isScanUncertain = false
    }

    /// Handles a change of the scan request.
    mutating func forgetScan() { isScanUncertain = false }

    // MARK: State

    var isUnresponsive: Bool { watch.isUnresponsive }

    /// A Boolean that is true while answers are missing that may still arrive.
    var isSuspected: Bool { watch.isSuspected }

    /// The counts at the last reading.
    var counts: ControllerTraffic? { watch.last }

    /// The time by which the kernel has given up the lost command.
    var commandTimeoutAt: MonotonicTime? { watch.commandTimeoutAt }

    /// The pause before the counts are read again.
    var pollInterval: Duration { watch.interval }

    /// Returns true if a failure now may be due to a lost command.
    func mayHaveLostCommand(now: MonotonicTime) -> Bool { watch.mayHaveLostCommand(now: now) }

    /// A Boolean that is true if the kernel waits for the end of a scan, and only switching the
    /// adapter off ends that wait. Only known while the controller is unresponsive.
    var isKernelStuck: Bool { isUnresponsive && isAttemptIgnored }

    /// A Boolean that is true if the kernel has sent the controller any command since the last
    /// recovery step. The kernel is then not stuck.
    var isKernelTrying: Bool {
        guard let countsAtRung, let counts else { return false }
        return counts.commands != countsAtRung.commands
    }

    /// Returns the earliest time at which missing commands after the last recovery step show a
    /// failure; `nil` if they show it at once.
    ///
    /// - Parameter filter: The effect of our filters on the scan.
    func silenceLimit(filter: FilterWatch.Effect) -> MonotonicTime? {
        filter == .restarts ? nil : rungTakenAt.map { $0 + timings.nextCycle }
    }

    // MARK: Events

    /// - Parameters:
    ///   - traffic: The kernel's current counts.
    ///   - isAdvertisingChanging: True if commands may belong to an advertisement.
    /// - Returns: The controller's change of state; `nil` if there is none.
    mutating func readCounts(
        _ traffic: ControllerTraffic,
        isAdvertisingChanging: Bool,
        now: MonotonicTime
    ) -> ControllerWatch.Change? {
        let change = watch.readCounts(traffic, now: now)
        switch change {
        case .stoppedAnswering:
            attempts = 0
            isAttemptIgnored = false
            isScanUncertain = !isAdvertisingChanging
        case .answersAgain:
            lastAttempt = nil
            isScanUncertain = true
        case nil:
            if watch.lastCommand == now, !isAdvertisingChanging { isScanUncertain = true }
        }
        return change
    }

    /// Records a recovery step that is taken because the controller was unresponsive.
    mutating func recordRung(now: MonotonicTime) {
        (countsAtRung, rungTakenAt) = (watch.last, now)
    }

    /// Checks if the scan that the last recovery step requested has begun: the controller was told
    /// to scan and has answered. If so, clears `isScanUncertain` and the stored counts, and returns
    /// true. bluetoothd does not report the start.
    mutating func provesScan(_ traffic: ControllerTraffic) -> Bool {
        guard !isUnresponsive, let countsAtRung, traffic.since(countsAtRung).beginsScan else {
            return false
        }
        isScanUncertain = false
        self.countsAtRung = nil
        return true
    }

    // MARK: Actions

    /// The time at which an unresponsive controller is probed if no scan is wanted.
    var probeDue: MonotonicTime? {
        guard isUnresponsive, let lastCommand = watch.lastCommand else { return nil }
        return max(lastProbe ?? lastCommand, lastCommand) + timings.firstRest
    }

    mutating func probed(now: MonotonicTime) { lastProbe = now }

    /// Clears the unresponsive state. Called if there is no advertisement to probe with: without
    /// commands, nothing would show that the controller answers again.
    mutating func forgetUnresponsive() { reset() }

    /// Returns the next recovery step for an unresponsive controller. A power cycle is the only one
    /// that does more than request the scan again.
    ///
    /// A running scan must not be stopped now: the command would be lost, and the kernel would wait
    /// for that stop for ever. If the command at the end of a scan cycle is lost, the kernel
    /// regards the scan as ended. `refilter` then sets a different filter: bluetoothd starts a scan
    /// without sending a stop.
    mutating func next(
        filter: FilterWatch.Effect,
        isScanOn: Bool,
        canPowerCycle: Bool,
        now: MonotonicTime
    ) -> RecoveryRung? {
        guard let due = nextDeadline, due <= now else { return nil }
        // If the kernel sent no command, it waits for the end of a scan: the stop command was lost.
        isAttemptIgnored =
            lastAttempt.map { attempt in
                watch.lastCommand.map {
                    $0 < attempt && isSilenceConclusive(since: $0, filter, now)
                } ?? true
            } ?? false
        attempts += 1
        lastAttempt = now
        return isAttemptIgnored && canPowerCycle ? .powerCycle : isScanOn ? .refilter : .restart
    }

    /// The time at which `next` may return a recovery step.
    var nextDeadline: MonotonicTime? {
        guard let since = watch.unresponsiveSince, let lastCommand = watch.lastCommand else {
            return nil
        }
        let pause =
            attempts < Self.eagerAttempts && !isAttemptIgnored
            ? timings.commandLimit : timings.firstRest
        let last = lastAttempt.map { max($0, lastCommand) } ?? lastCommand
        // If only an advertising command was lost, the scan continues until its cycle ends.
        return isScanUncertain ? last + pause : max(last + pause, since + timings.scanCycle)
    }

    /// Returns true if the time without commands shows that the kernel is stuck. If another
    /// program's wider filter may hide our filter changes, it must last for a whole scan cycle,
    /// because a power cycle would also interrupt that program.
    private func isSilenceConclusive(
        since: MonotonicTime,
        _ filter: FilterWatch.Effect,
        _ now: MonotonicTime
    ) -> Bool {
        filter == .restarts || now - since >= timings.nextCycle
    }
}
