internal import GotchuCore
internal import Synchronization

/// The answer to whether the provider may be called: not before the books are bound to its account,
/// and for a minute not after it has refused our key.
final class ProviderGate: Sendable {
    /// The time for which it is closed.
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

    /// Opens it: the key is of the account that the books belong to.
    func bind() {
        state.withLock { $0.isBound = true }
    }

    /// Closes it for a while, after which one call shows whether the operator has acted.
    func close(for duration: Duration) {
        let end = MonotonicTime.now + duration
        state.withLock { $0.closedUntil = end }
    }
}
