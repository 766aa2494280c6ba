import Radio

/// The reason for a rung.
enum RecoveryReason: String, CaseIterable, Codable, Sendable {
    /// `Discovering` is true, and nothing at all comes, not even the scan's own cycle.
    case silent
    /// A filter was set that must restart the scan, and did not.
    case notRestarted = "not-restarted"
    /// Something is heard, but the scan's own cycle has stopped: only another program's
    /// advertisement monitor may be listening.
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
    case unresponsive = "controller-unresponsive"

    /// Tells whether a rung can help.
    func takes(_ rung: RecoveryRung) -> Bool {
        switch self {
        case .silent, .cycleStopped: true
        case .startLost: rung == .refilter
        case .notRestarted, .ended: rung >= .restart
        case .refused, .notAnswering, .stuckAdvertisement: rung >= .reconnect
        // Only a power cycle clears a command that the kernel still waits for: bluetoothd does not
        // even answer a start then.
        case .unresponsive: rung == .refilter || rung == .powerCycle
        }
    }

    /// A Boolean that is true if anything that is heard shows that all is well. What is heard for
    /// another program's advertisement monitor says nothing about the scan's own cycle.
    var isDisprovedByHearing: Bool {
        switch self {
        case .silent, .notRestarted: true
        case .cycleStopped, .startLost, .ended, .refused, .notAnswering, .stuckAdvertisement,
            .unresponsive:
            false
        }
    }

    /// A Boolean that is true if a scan that is seen to begin shows that all is well.
    var isDisprovedByStart: Bool {
        switch self {
        case .silent, .notRestarted, .cycleStopped, .startLost, .ended: true
        // Has its own proof, which is asked for once the controller answers.
        case .unresponsive: false
        case .refused, .notAnswering, .stuckAdvertisement: false
        }
    }

    /// A Boolean that is true if it could be a wrong guess. What disturbs others is not done for a
    /// guess.
    var isGuess: Bool {
        switch self {
        case .notRestarted, .cycleStopped, .startLost: true
        case .silent, .ended, .refused, .notAnswering, .stuckAdvertisement, .unresponsive: false
        }
    }
}

/// One rung that is being taken, for the log.
struct RecoveryStep: Equatable, Sendable {
    let rung: RecoveryRung
    let reason: RecoveryReason
}
