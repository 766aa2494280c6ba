internal import GotchuCore
internal import Logging
internal import ServiceProcess
internal import Stripe
internal import Synchronization

/// The gate for provider calls. It is closed until the ledger is bound to the provider's account,
/// and for a minute after the provider has refused our key. Logs refused keys and the provider's
/// absence, each once, and their ends.
final class ProviderGate: Sendable {
    /// The time for which the gate stays closed after a refused key.
    static let pause: Duration = .seconds(60)
    /// The number of calls in a row without an answer that count as the provider's absence.
    private static let absence = 3

    private struct State {
        var isBound = false
        var closedUntil: MonotonicTime?
        /// The number of calls without an answer since the last answer.
        var unanswered = 0
        /// The names of the calls for which the key is refused: it may lack their permissions only.
        var refusedCalls: Set<String> = []
        var absences: FailureLog
        var refusals: FailureLog
    }

    private let state: Mutex<State>

    init(_ logger: Logger) {
        let absences = FailureLog(
            logger,
            failure: "Stripe does not answer: deposits and withdrawals wait, payments go on.",
            recovery: "Stripe answers again."
        )
        let refusals = FailureLog(
            logger,
            failure: "Stripe refuses the key, or does not let it do this: deposits and withdrawals "
                + "wait. Put the right key into its file and restart, or give it the permission.",
            recovery: "Stripe accepts the key."
        )
        state = Mutex(State(absences: absences, refusals: refusals))
    }

    /// A Boolean that is true if calls may be made.
    var isOpen: Bool {
        let now = MonotonicTime.now
        return state.withLock { $0.isBound && $0.closedUntil.map { $0 <= now } ?? true }
    }

    /// Opens the gate: the key's account is the ledger's.
    func bind() {
        state.withLock { $0.isBound = true }
    }

    /// Records the outcome of a call. Closes the gate for a while if the key was refused: calls
    /// after that show if the operator has given the key its permission.
    func record(_ report: StripeCallReport) {
        let now = MonotonicTime.now
        state.withLock { state in
            if report.outcome == .misconfigured {
                state.closedUntil = now + Self.pause
                state.refusedCalls.insert(report.call)
                state.refusals.recordFailure(report)
            } else if report.outcome == .done, state.refusedCalls.remove(report.call) != nil,
                state.refusedCalls.isEmpty
            {
                state.refusals.recordSuccess()
            }
            // A cancelled call says nothing about the provider. Before the ledger is bound, the
            // worker logs the failures of its one call.
            guard let isAnswer = report.isAnswer, isAnswer || !Task.isCancelled, state.isBound
            else { return }
            state.unanswered = isAnswer ? 0 : state.unanswered + 1
            if isAnswer { state.absences.recordSuccess() }
            if state.unanswered >= Self.absence { state.absences.recordFailure(report) }
        }
    }
}

extension FailureLog {
    fileprivate mutating func recordFailure(_ report: StripeCallReport) {
        recordFailure(report.failure ?? ProviderUnavailable(), ["call": "\(report.call)"])
    }
}
