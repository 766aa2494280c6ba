import BlueZ
import GotchuCore
import Radio

/// A controller that leaves commands without an answer, and the scan that it may have lost by that:
/// pure.
struct ControllerRecovery: Sendable {
    /// Attempts while the controller is unresponsive, after which there are fewer.
    private static let eagerAttempts = 20

    private var watch: ControllerWatch
    /// A Boolean that is true once the controller was unresponsive, until the scan is seen to go
    /// on.
    private(set) var isScanUncertain = false
    private var attempts = 0
    /// A Boolean that is true if the kernel told the controller nothing at the last attempt.
    private var isAttemptIgnored = false
    private var lastAttempt: MonotonicTime?
    /// The time of the last probe while no scan is wanted.
    private var lastProbe: MonotonicTime?
    /// The counts before the last rung for an unresponsive controller.
    private var countsAtRung: ControllerTraffic?
    /// The time at which that rung was taken.
    private var rungTakenAt: MonotonicTime?
    private let timings: RecoveryTimings

    init(timings: RecoveryTimings) {
        self.timings = timings
        watch = ControllerWatch(timings: timings)
    }

    /// bluetoothd or the adapter went away or is another. The last rung's counts stay: they prove a
    /// scan that begins after it.
    mutating func startAfresh() {
        watch = ControllerWatch(timings: timings)
        isScanUncertain = false
    }

    /// Another scan is wanted, or none.
    mutating func forgetScan() { isScanUncertain = false }

    // MARK: What there is

    var isUnresponsive: Bool { watch.isUnresponsive }

    /// A Boolean that is true while answers are missing that may still come.
    var isSuspected: Bool { watch.isSuspected }

    /// The counts at the last look.
    var counts: ControllerTraffic? { watch.last }

    /// The time by which the kernel has given up the command that was lost.
    var freeAt: MonotonicTime? { watch.freeAt }

    /// The pause before it is looked at again.
    var lookInterval: Duration { watch.interval }

    /// Tells whether what fails now may fail because of a command that was lost.
    func excuses(now: MonotonicTime) -> Bool { watch.excuses(now: now) }

    /// A Boolean that is true if the kernel waits for ever for the end of a scan, as long as the
    /// adapter is on. Only known while the controller is unresponsive.
    var isKernelStuck: Bool { isUnresponsive && isAttemptIgnored }

    /// A Boolean that is true if the kernel has told the controller anything since the last rung:
    /// then it is not stuck.
    var isKernelTrying: Bool {
        guard let countsAtRung, let counts else { return false }
        return counts.commands != countsAtRung.commands
    }

    /// The time until which silence after the last rung says nothing; `nil` where it tells at once.
    ///
    /// - Parameter filter: The effect that our filters have on the scan.
    func silenceLimit(filter: FilterWatch.Effect) -> MonotonicTime? {
        filter == .restarts ? nil : rungTakenAt.map { $0 + timings.nextCycle }
    }

    // MARK: What happens

    /// - Parameters:
    ///   - traffic: The kernel's counts by now.
    ///   - isAdvertisingChanging: True if commands may be about an advertisement.
    /// - Returns: The change of the controller; `nil` if there is none.
    mutating func looked(
        _ traffic: ControllerTraffic,
        isAdvertisingChanging: Bool,
        now: MonotonicTime
    ) -> ControllerWatch.Change? {
        let change = watch.looked(traffic, now: now)
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

    /// A rung is being taken because the controller was unresponsive.
    mutating func tookRung(now: MonotonicTime) {
        (countsAtRung, rungTakenAt) = (watch.last, now)
    }

    /// A scan that was asked for has begun if the controller was told so, and has answered. Nothing
    /// that bluetoothd says shows it.
    ///
    /// - Returns: True if it has.
    mutating func provesScan(_ traffic: ControllerTraffic) -> Bool {
        guard !isUnresponsive, let countsAtRung, traffic.since(countsAtRung).beginsScan else {
            return false
        }
        isScanUncertain = false
        self.countsAtRung = nil
        return true
    }

    // MARK: What to do

    /// The time at which an unresponsive controller is probed if no scan is wanted.
    var probeDue: MonotonicTime? {
        guard isUnresponsive, let lastCommand = watch.lastCommand else { return nil }
        return max(lastProbe ?? lastCommand, lastCommand) + timings.firstRest
    }

    mutating func probed(now: MonotonicTime) { lastProbe = now }

    /// Nothing is asked of the controller, so that nothing would show its recovery.
    mutating func forgetUnresponsive() { startAfresh() }

    /// The next rung while the controller is unresponsive: no more than keeps the scan asked for.
    ///
    /// A scan that runs must not be stopped now. The command would be lost, and the kernel would
    /// wait for that stop for ever. Once the cycle's own end was lost it runs no more for the
    /// kernel, and another filter makes bluetoothd start it without stopping anything.
    mutating func next(
        filter: FilterWatch.Effect,
        isScanOn: Bool,
        canPowerCycle: Bool,
        now: MonotonicTime
    ) -> RecoveryRung? {
        guard let due = wake, due <= now else { return nil }
        // The kernel did not even try: it waits for the end of a scan, which it has lost.
        isAttemptIgnored =
            lastAttempt.map { attempt in
                watch.lastCommand.map {
                    $0 < attempt && isSilenceTelling(since: $0, filter, now)
                } ?? true
            } ?? false
        attempts += 1
        lastAttempt = now
        return isAttemptIgnored && canPowerCycle ? .powerCycle : isScanOn ? .refilter : .restart
    }

    /// The time at which `next` has something to do.
    var wake: MonotonicTime? {
        guard let since = watch.unresponsiveSince, let lastCommand = watch.lastCommand else {
            return nil
        }
        let pause =
            attempts < Self.eagerAttempts && !isAttemptIgnored
            ? timings.commandLimit : timings.firstRest
        let last = lastAttempt.map { max($0, lastCommand) } ?? lastCommand
        // A command for an advertisement says nothing of the scan, which ends by itself in time.
        return isScanUncertain ? last + pause : max(last + pause, since + timings.scanCycle)
    }

    /// Tells whether the kernel is stuck if it tells the controller nothing after a filter of ours.
    /// Beside another program's wider filter, or while there may be one, only the scan's next cycle
    /// must show: everybody's adapter is not switched off on a guess.
    private func isSilenceTelling(
        since: MonotonicTime,
        _ filter: FilterWatch.Effect,
        _ now: MonotonicTime
    ) -> Bool {
        filter == .restarts || now - since >= timings.nextCycle
    }
}
