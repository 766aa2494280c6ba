import GotchuAPI
import LocalAPI

extension PaymentWatch {
    /// Begins a payment. Once the call was sent, a missing reply is not a refusal: gotchud may be
    /// paying.
    ///
    /// Ctrl-C waits for the reply, which may take as long as the payment server does, and then
    /// cancels the payment.
    ///
    /// - Parameter unknownOutcome: The failure to report if there was no reply.
    static func begin(
        _ client: LocalClient,
        _ output: Output,
        orElse unknownOutcome: CommandFailure,
        _ call: @escaping @Sendable () async throws -> PaymentView
    ) async throws -> PaymentView {
        // Set before the call: from now on a signal does not simply end the process.
        let trap = SignalTrap()
        // Not cancelled: the payment's id must be known before it can be cancelled.
        // SAFETY: it is awaited by the race, whatever happens.
        let beginning = Task { try await call() }
        do {
            let outcome = try await race(trap: trap) {
                try await withTaskCancellationHandler {
                    try await beginning.value
                } onCancel: {
                    output.message("Waiting for gotchud, to cancel it …; Ctrl-C again leaves it.")
                }
            }
            if case .finished(let payment) = outcome { return payment }
            let payment = try await beginning.value
            guard payment.kind == nil, let ended = try? await client.cancelPayment(payment.id)
            else { throw unknownOutcome }
            return ended
        } catch let failure as LocalClientFailure where failure.isOutcomeUnknown {
            throw unknownOutcome
        }
    }
}

extension LocalClientFailure {
    /// A Boolean that is true if the call may have reached gotchud without a valid reply.
    fileprivate var isOutcomeUnknown: Bool {
        switch self {
        // A daemon of another version replies after it has acted.
        case .connectionLost, .unreadableReply, .apiMismatch, .system: true
        // A limit of zero means that there was no connection.
        case .timedOut(let limit): limit > .zero
        case .noSocket, .refused, .permissionDenied, .foreignListener, .pathTooLong, .problem:
            false
        }
    }
}
