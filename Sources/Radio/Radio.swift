package import GotchuCore
import ServiceLifecycle

/// A radio: receives our advertisements and sends them.
///
/// A radio maintains the requested state: after any interruption it restores each advertisement for
/// which `startAdvertising` has returned, and its scan while listening is wanted, until told
/// otherwise.
package protocol Radio: Sendable {
    /// The source of sightings, for display: `hci0`, `simulated`.
    var name: String { get }

    /// The thread that delivers events, for tasks that process them later and must not block; `nil`
    /// for the cooperative pool.
    var executor: (any TaskExecutor)? { get }

    /// Waits for a duration, or until the task is cancelled. If there is a thread that delivers
    /// events, it keeps the time itself: no other thread wakes.
    ///
    /// - Parameter tolerance: The longest allowed delay. Within it, one wake of the thread can
    ///   serve several purposes.
    func pause(for duration: Duration, tolerance: Duration) async

    /// Runs until the service group shuts down or the task is cancelled. Must not be called twice.
    ///
    /// There is no queue between the radio and its listener: nothing is lost there. A slow listener
    /// delays the reading. The kernel or the bus may then drop messages, and counts them.
    ///
    /// - Parameter onEvent: Receives all events of the radio; its state first.
    /// - Throws: An error if the radio can never work.
    func run(onEvent: @escaping RadioListener) async throws

    /// Records whether listening is wanted; initially it is not.
    ///
    /// Returns at once; the state shows when the radio has followed. While listening is not wanted,
    /// no sightings are reported. Advertisements then cause no work, unless another program scans
    /// on the same adapter and they arrive over D-Bus.
    func setListening(_ isWanted: Bool) async

    /// Puts an EID on the air and returns once it is there.
    ///
    /// - Throws: `RadioFailure` if it cannot be on the air now; it is then no longer wanted.
    func startAdvertising(_ eid: EID) async throws(RadioFailure)

    /// Takes an EID off the air; returns when it is off. If it is not on the air, does nothing.
    ///
    /// While bluetoothd does not answer, this returns after a timeout; the EID is taken off as soon
    /// as that is possible.
    func stopAdvertising(_ eid: EID) async
}

/// Defaults for a radio without a thread of its own.
extension Radio {
    package var executor: (any TaskExecutor)? { nil }

    /// Sleeps; a timer is the purpose here, and only cancellation ends it early.
    package func pause(for duration: Duration, tolerance: Duration) async {
        try? await Task.sleep(for: duration, tolerance: tolerance)
    }
}

extension Radio {
    package func pause(for duration: Duration) async {
        await pause(for: duration, tolerance: .zero)
    }
}

/// A radio and its listener as one service.
package struct RadioService: Service {
    private let radio: any Radio
    private let onEvent: RadioListener

    package init(_ radio: any Radio, onEvent: @escaping RadioListener) {
        self.radio = radio
        self.onEvent = onEvent
    }

    package func run() async throws {
        try await radio.run(onEvent: onEvent)
    }
}
