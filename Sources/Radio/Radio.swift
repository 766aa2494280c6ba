package import GotchuCore
import ServiceLifecycle

/// A way onto the air: hears our advertisements and sends them.
///
/// A radio is told what is wanted and keeps it so: it re-establishes each advertisement for which
/// `startAdvertising` has returned, and its scan while it is to listen, after any interruption
/// until it is told otherwise.
package protocol Radio: Sendable {
    /// The source of sightings, for people: `hci0`, `simulated`.
    var name: String { get }

    /// The thread that notices, for what is done with an event later and must not block; `nil` for
    /// the cooperative pool.
    var executor: (any TaskExecutor)? { get }

    /// Waits, or until the task is cancelled; where there is a thread that notices, it keeps the
    /// time itself, so that no other one wakes for it.
    ///
    /// - Parameter tolerance: The time by which it may be longer, to end with a wake-up that is
    ///   anyway.
    func pause(for duration: Duration, tolerance: Duration) async

    /// Works until the service group shuts down or the task is cancelled. Once only.
    ///
    /// Nothing waits between the radio and its listener, so nothing is lost there: a slow listener
    /// holds up the reading, and what the kernel and the bus then drop, they count.
    ///
    /// - Parameter onEvent: Receives everything that the radio notices; its state first.
    /// - Throws: When the radio can never work.
    func run(onEvent: @escaping RadioListener) async throws

    /// Starts or ends the wish to listen, which a radio does not have at first.
    ///
    /// Returns at once; the state says when the radio follows. Without the wish nothing is heard.
    /// Advertisements then cost nothing, unless another program scans on the same adapter and they
    /// come over D-Bus.
    func setListening(_ isWanted: Bool) async

    /// Puts an EID on the air and returns once it is there.
    ///
    /// - Throws: `RadioFailure` if it cannot be on the air now; it is then not wanted any more.
    func startAdvertising(_ eid: EID) async throws(RadioFailure)

    /// Takes an EID off the air; returns when it is off. Does nothing for one that is not on it.
    ///
    /// While bluetoothd does not answer, nothing can take it off: then this returns after a while,
    /// and it is taken off as soon as that can be done.
    func stopAdvertising(_ eid: EID) async
}

/// For a radio without a thread of its own.
extension Radio {
    package var executor: (any TaskExecutor)? { nil }

    /// This is what it is for: to wait, and no event ends it but cancellation.
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
