import BlueZ
import GotchuCore

/// Decides from the kernel's counts whether the controller answers its host. The time is a
/// parameter.
///
/// The firmware of cheap adapters sometimes stops for seconds. The kernel gives up each command
/// after 2 s, and the operation that needs it fails: the scan's next cycle does not begin.
/// bluetoothd still reports `Discovering`, and waits 10 s before it retries.
struct ControllerWatch: Sendable {
    enum Change: Equatable, Sendable {
        /// Commands are left unanswered.
        case stoppedAnswering
        /// The controller sends events again after it was unresponsive; or it left a command
        /// unanswered, but still sends events.
        case answersAgain
    }

    private let timings: RecoveryTimings
    private(set) var last: ControllerTraffic?
    /// The time of the first reading with unanswered commands, and the counts before them. `nil`
    /// once all are answered, or the controller is unresponsive or answers again.
    private var suspicion: (since: MonotonicTime, before: ControllerTraffic)?
    private(set) var unresponsiveSince: MonotonicTime?
    /// The time at which it was seen to answer again.
    private var answersSince: MonotonicTime?
    /// The last time a command to the unresponsive controller was seen.
    private(set) var lastCommand: MonotonicTime?
    /// The time by which the kernel has given up the lost command. A scan start before that fails,
    /// and bluetoothd then waits for 10 s.
    private(set) var commandTimeoutAt: MonotonicTime?

    init(timings: RecoveryTimings) {
        self.timings = timings
    }

    var isUnresponsive: Bool { unresponsiveSince != nil }

    var isSuspected: Bool { suspicion != nil }

    /// Returns true if a failure now may be due to a lost command.
    func mayHaveLostCommand(now: MonotonicTime) -> Bool {
        isUnresponsive || isSuspected
            || answersSince.map { now - $0 < timings.answerLimit } ?? false
    }

    /// The pause before the counts are read again.
    var interval: Duration {
        isUnresponsive
            ? timings.fastPollInterval / 2
            : isSuspected ? timings.fastPollInterval : timings.pollInterval
    }

    mutating func readCounts(_ traffic: ControllerTraffic, now: MonotonicTime) -> Change? {
        defer { last = traffic }
        guard let last else { return nil }
        let commands = traffic.commands &- last.commands
        let events = traffic.events &- last.events
        if isUnresponsive {
            if commands > events { lastCommand = now }
            guard events > 0 else { return nil }
            return recordRecovery(lostCommandAt: lastCommand, now: now)
        }
        guard let (since, before) = suspicion else {
            if commands > events { suspicion = (now, last) }
            return nil
        }
        guard traffic.commands &- before.commands > traffic.events &- before.events else {
            suspicion = nil
            return nil
        }
        guard now - since >= timings.fastPollInterval else { return nil }
        if events == 0 {
            suspicion = nil
            unresponsiveSince = now
            lastCommand = commands > 0 ? now : since
            return .stoppedAnswering
        }
        // The controller still sends events, but an answer is missing. If no command was sent since
        // the last reading, the answer cannot arrive any more: the command was lost.
        return commands == 0 ? recordRecovery(lostCommandAt: since, now: now) : nil
    }

    private mutating func recordRecovery(
        lostCommandAt lostCommand: MonotonicTime?,
        now: MonotonicTime
    ) -> Change {
        commandTimeoutAt = lostCommand.map { $0 + timings.commandLimit }
        suspicion = nil
        unresponsiveSince = nil
        answersSince = now
        return .answersAgain
    }
}
