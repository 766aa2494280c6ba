package import GotchuCore
package import ServiceLifecycle

/// A way onto the air: hears our advertisements and sends them.
///
/// A radio is told what is wanted and keeps it so: it re-establishes each advertisement for which
/// `startAdvertising` has returned, and its scan while it is to listen, after any interruption
/// until it is told otherwise. `run()` returns only when the service group shuts down; it throws
/// when the radio can never work.
package protocol Radio: Service {
    /// The source of sightings, for people: `hci0`, `simulated`.
    var name: String { get }

    /// Everything the radio notices.
    var events: RadioEvents { get }

    /// The executor of the thread that notices, on which the listener best does its own work
    /// without blocking; `nil` for the cooperative pool.
    var executor: (any TaskExecutor)? { get }

    /// Waits, or until the task is cancelled; where there is a thread that notices, it keeps the
    /// time itself, so that no other one wakes for it.
    ///
    /// - Parameter tolerance: How much longer it may be, so as to end with a wake-up that there is
    ///   anyway.
    func pause(for duration: Duration, tolerance: Duration) async

    /// Starts or ends the wish to listen, which a radio does not have at first.
    ///
    /// Returns at once; the state says when the radio follows. Without the wish nothing is heard,
    /// and advertisements of others cost nothing.
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
