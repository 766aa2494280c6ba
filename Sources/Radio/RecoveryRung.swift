/// What a radio does to get its scan back, the cheapest first.
package enum RecoveryRung: String, CaseIterable, Codable, Comparable, Sendable {
    /// Set another filter, which makes bluetoothd restart the scan.
    case refilter
    /// Stop discovery and start it again.
    case restart
    /// Open a new connection to the bus: bluetoothd drops all that the old one had.
    case reconnect
    /// Switch the adapter off and on, for every program on the machine. Only if configured.
    case powerCycle = "power-cycle"

    package static func < (left: RecoveryRung, right: RecoveryRung) -> Bool {
        left.height < right.height
    }

    private var height: Int {
        switch self {
        case .refilter: 0
        case .restart: 1
        case .reconnect: 2
        case .powerCycle: 3
        }
    }
}

/// Why a rung is taken.
package enum RecoveryReason: String, CaseIterable, Codable, Sendable {
    /// `Discovering` is true, and nothing at all comes, not even the scan's own cycle.
    case silent
    /// A filter was set that must restart the scan, and did not.
    case notRestarted = "not-restarted"
    /// Something is heard, but the scan's own cycle has stopped: only a monitor may be listening.
    case cycleStopped = "cycle-stopped"
    /// The scan's cycle ended and the next one did not begin: its start was lost. bluetoothd would
    /// wait for 10 s (its IDLE_DISCOV_TIMEOUT, twice).
    case startLost = "start-lost"
    /// `Discovering` stays false.
    case ended
    /// The scan is refused again and again.
    case refused
    /// bluetoothd leaves call after call without an answer.
    case notAnswering = "not-answering"
    /// An advertisement that must go cannot be taken off.
    case stuckAdvertisement = "stuck-advertisement"

    /// The controller left commands without an answer, and what became of the scan is not known.
    case mute = "controller-mute"

    /// Whether a rung can help.
    func takes(_ rung: RecoveryRung) -> Bool {
        switch self {
        case .silent, .cycleStopped: true
        case .startLost: rung == .refilter
        case .notRestarted, .ended: rung >= .restart
        case .refused, .notAnswering, .stuckAdvertisement: rung >= .reconnect
        // What a mute controller has left in the kernel, only the power changes: bluetoothd does
        // not even answer a start then.
        case .mute: rung == .refilter || rung == .powerCycle
        }
    }

    /// Whether anything that is heard shows that all is well. A monitor's devices say nothing about
    /// the scan's own cycle.
    var isDisprovedByHearing: Bool {
        switch self {
        case .silent, .notRestarted: true
        case .cycleStopped, .startLost, .ended, .refused, .notAnswering, .stuckAdvertisement, .mute:
            false
        }
    }

    /// Whether a scan that is seen to begin shows that all is well.
    var isDisprovedByStart: Bool {
        switch self {
        case .silent, .notRestarted, .cycleStopped, .startLost, .ended: true
        // Has its own proof, which is asked for once the controller answers.
        case .mute: false
        case .refused, .notAnswering, .stuckAdvertisement: false
        }
    }

    /// Whether it could be a wrong guess. What disturbs others is not done for a guess.
    var isGuess: Bool {
        switch self {
        case .notRestarted, .cycleStopped, .startLost: true
        case .silent, .ended, .refused, .notAnswering, .stuckAdvertisement, .mute: false
        }
    }
}

/// One rung that is being taken, for the log.
struct RecoveryStep: Equatable, Sendable {
    let rung: RecoveryRung
    let reason: RecoveryReason
}
