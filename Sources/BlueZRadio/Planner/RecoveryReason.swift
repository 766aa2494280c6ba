import Radio

/// The fault that a recovery step is meant to clear.
enum RecoveryReason: String, CaseIterable, Codable, Sendable {
    /// `Discovering` is true, but nothing is received, not even the periodic scan restart.
    case silent
    /// A new filter was set, but the scan did not restart.
    case notRestarted = "not-restarted"
    /// Advertisements are received, but the periodic scan restarts have stopped. The advertisements
    /// may all come from another program's advertisement monitor.
    case cycleStopped = "cycle-stopped"
    /// The scan's cycle ended and the next one did not begin: its start was lost. bluetoothd would
    /// wait for 10 s (its IDLE_DISCOV_TIMEOUT, twice).
    case startLost = "start-lost"
    /// `Discovering` stays false.
    case ended
    /// The scan is refused again and again.
    case refused
    /// bluetoothd leaves several calls in a row unanswered.
    case notAnswering = "not-answering"
    /// An advertisement cannot be removed.
    case stuckAdvertisement = "stuck-advertisement"
    /// The controller left commands unanswered, and the scan's state is unknown.
    case unresponsive = "controller-unresponsive"

    /// Returns true if a recovery step can clear this fault.
    func canBeCleared(by rung: RecoveryRung) -> Bool {
        switch self {
        case .silent, .cycleStopped: true
        case .startLost: rung == .refilter
        case .notRestarted, .ended: rung >= .restart
        case .refused, .notAnswering, .stuckAdvertisement: rung >= .reconnect
        // A restart cannot help: while the kernel waits for a lost command, bluetoothd does not
        // answer a start. Only a power cycle ends that wait.
        case .unresponsive: rung == .refilter || rung == .powerCycle
        }
    }

    /// A Boolean that is true if any received advertisement disproves the fault. `cycleStopped` is
    /// not disproved: another program's advertisement monitor may have caused the report.
    var isDisprovedByHearing: Bool {
        switch self {
        case .silent, .notRestarted: true
        case .cycleStopped, .startLost, .ended, .refused, .notAnswering, .stuckAdvertisement,
            .unresponsive:
            false
        }
    }

    /// A Boolean that is true if a scan start disproves the fault.
    var isDisprovedByStart: Bool {
        switch self {
        case .silent, .notRestarted, .cycleStopped, .startLost, .ended: true
        // Checked separately, once the controller answers again.
        case .unresponsive: false
        case .refused, .notAnswering, .stuckAdvertisement: false
        }
    }

    /// A Boolean that is true if the fault is only suspected. Steps that disturb other programs are
    /// not taken then.
    var isGuess: Bool {
        switch self {
        case .notRestarted, .cycleStopped, .startLost: true
        case .silent, .ended, .refused, .notAnswering, .stuckAdvertisement, .unresponsive: false
        }
    }
}

/// A recovery step in progress, for the log.
struct RecoveryStep: Equatable, Sendable {
    let rung: RecoveryRung
    let reason: RecoveryReason
}
