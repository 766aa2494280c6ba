internal import GotchuCore
internal import Synchronization

/// The gate for provider calls. It is closed until the ledger is bound to the provider's account,
/// and for a minute after the provider has refused our key.
final class ProviderGate: Sendable {
    /// The time for which the gate stays closed after a refused key.
    static let pause: Duration = .seconds(60)

    private struct State {
        var isBound = false
        var closedUntil: MonotonicTime?
    }

    private let state = Mutex(State())

    /// A Boolean that is true if calls may be made.
    var isOpen: Bool {
        let now = MonotonicTime.now
        return state.withLock { $0.isBound && $0.closedUntil.map { $0 <= now } ?? true }
    }

    /// Opens the gate: the key's account is the ledger's.
    func bind() {
        state.withLock { $0.isBound = true }
    }

    /// Closes the gate for a while. Calls after that show if the operator has corrected the key.
    func close(for duration: Duration) {
        let end = MonotonicTime.now + duration
        state.withLock { $0.closedUntil = end }
    }
}
