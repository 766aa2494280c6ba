import BlueZ
import GotchuCore

/// The judgement, by the kernel's counts, whether the controller answers its host: pure.
///
/// The firmware of cheap adapters now and then stops for seconds. The kernel gives each command up
/// after 2 s, and what depended on it is left undone: the scan's next cycle does not begin, and
/// bluetoothd, which still says `Discovering`, waits 10 s before it tries again.
struct ControllerWatch: Sendable {
    enum Change: Equatable, Sendable {
        /// Commands are left without an answer.
        case stoppedAnswering
        /// It does again, or has left some without and never been seen to be unresponsive.
        case answersAgain
    }

    private let timings: RecoveryTimings
    private(set) var last: ControllerTraffic?
    /// The time since which commands are under way, and the counts before them. It is nothing if as
    /// many answers come.
    private var suspicion: (since: MonotonicTime, before: ControllerTraffic)?
    private(set) var unresponsiveSince: MonotonicTime?
    /// The time at which it was seen to answer again.
    private var answersSince: MonotonicTime?
    /// The time at which an unresponsive controller was last seen to be told something.
    private(set) var lastCommand: MonotonicTime?
    /// By then the kernel has given up what was lost. A scan's start before that fails, and
    /// bluetoothd then waits for 10 s.
    private(set) var freeAt: MonotonicTime?

    init(timings: RecoveryTimings) {
        self.timings = timings
    }

    var isUnresponsive: Bool { unresponsiveSince != nil }

    var isSuspected: Bool { suspicion != nil }

    /// Tells whether what fails now may fail because of a command that was lost.
    func excuses(now: MonotonicTime) -> Bool {
        isUnresponsive || isSuspected
            || answersSince.map { now - $0 < timings.answerLimit } ?? false
    }

    /// The pause before it is looked at again.
    var interval: Duration {
        isUnresponsive ? timings.closeLook / 2 : isSuspected ? timings.closeLook : timings.look
    }

    mutating func looked(_ traffic: ControllerTraffic, now: MonotonicTime) -> Change? {
        defer { last = traffic }
        guard let last else { return nil }
        let commands = traffic.commands &- last.commands
        let events = traffic.events &- last.events
        if isUnresponsive {
            if commands > events { lastCommand = now }
            guard events > 0 else { return nil }
            return answers(lastCommand, now: now)
        }
        guard let (since, before) = suspicion else {
            if commands > events { suspicion = (now, last) }
            return nil
        }
        guard traffic.commands &- before.commands > traffic.events &- before.events else {
            suspicion = nil
            return nil
        }
        guard now - since >= timings.closeLook else { return nil }
        if events == 0 {
            suspicion = nil
            unresponsiveSince = now
            lastCommand = commands > 0 ? now : since
            return .stoppedAnswering
        }
        // It says something, nothing more was asked of it, and an answer is still missing.
        return commands == 0 ? answers(since, now: now) : nil
    }

    private mutating func answers(
        _ lostCommand: MonotonicTime?,
        now: MonotonicTime
    ) -> Change {
        freeAt = lostCommand.map { $0 + timings.commandLimit }
        suspicion = nil
        unresponsiveSince = nil
        answersSince = now
        return .answersAgain
    }
}
