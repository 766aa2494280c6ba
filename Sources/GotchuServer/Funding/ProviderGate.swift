internal import GotchuCore
internal import Synchronization

/// The gate for provider calls: closed until the ledger is bound to the provider's account, and for
/// a minute after the provider has refused our key.
final class ProviderGate: Sendable {
    /// The time for which it stays closed after a refused key.
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

    /// Opens it: the key's account is the ledger's.
    func bind() {
        state.withLock { $0.isBound = true }
    }

    /// Closes it for a while. The next calls after that show if the operator has fixed the key.
    func close(for duration: Duration) {
        let end = MonotonicTime.now + duration
        state.withLock { $0.closedUntil = end }
    }
}
