import GotchuAPI
import LocalAPI

extension PaymentWatch {
    /// Begins a payment. Once the call was sent, a missing answer is no refusal: gotchud may be
    /// paying.
    ///
    /// Ctrl-C waits for that answer, which may take as long as the payment server does, and then
    /// cancels the payment.
    ///
    /// - Parameter unknownOutcome: The failure to report if no answer came.
    static func begin(
        _ client: LocalClient,
        _ output: Output,
        orElse unknownOutcome: CommandFailure,
        _ call: @escaping @Sendable () async throws -> PaymentView
    ) async throws -> PaymentView {
        // Set before the call: from then on a signal does not simply end the process.
        let trap = SignalTrap()
        // Not cancelled: a payment's id must be known before it can be cancelled.
        // SAFETY: it is awaited by the race, whatever happens.
        let beginning = Task { try await call() }
        do {
            let outcome = try await race(trap: trap) {
                try await withTaskCancellationHandler {
                    try await beginning.value
                } onCancel: {
                    output.talk("Waiting for gotchud, to cancel it …; Ctrl-C again leaves it.")
                }
            }
            if case .finished(let payment) = outcome { return payment }
            let payment = try await beginning.value
            guard payment.kind == nil, let ended = try? await client.cancelPayment(payment.id)
            else { throw unknownOutcome }
            return ended
        } catch let failure as LocalClientFailure where failure.isNoAnswer {
            throw unknownOutcome
        }
    }
}

extension LocalClientFailure {
    /// A Boolean that is true if the call may have reached gotchud, which has not answered it.
    fileprivate var isNoAnswer: Bool {
        switch self {
        // A daemon of another version answers after it has acted.
        case .connectionLost, .unreadableReply, .apiMismatch, .system: true
        // With no time left there was no connection.
        case .timedOut(let limit): limit > .zero
        case .noSocket, .refused, .permissionDenied, .foreignListener, .pathTooLong, .problem:
            false
        }
    }
}
