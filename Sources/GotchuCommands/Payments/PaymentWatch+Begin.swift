import GotchuAPI
import LocalAPI

extension PaymentWatch {
    /// Begins a payment or a refund. If the call was sent and its reply is lost, gotchud may be
    /// paying: `unknownOutcome` is thrown.
    ///
    /// After Ctrl-C the reply is still awaited, which takes as long as the payment server does. A
    /// payment is then cancelled. If that fails, or it is a refund that has not ended,
    /// `unknownOutcome` is thrown.
    ///
    /// - Parameters:
    ///   - kind: The kind of what begins; `nil` for a plain payment.
    ///   - unknownOutcome: The failure if the outcome is not known.
    static func begin(
        _ client: LocalClient,
        _ output: Output,
        kind: PaymentView.Kind? = nil,
        orElse unknownOutcome: CommandFailure,
        _ call: @escaping @Sendable () async throws -> PaymentView
    ) async throws -> PaymentView {
        // Created before the call: from here on the first signal does not end the process.
        let trap = SignalTrap()
        // A task that is never cancelled: cancelling the payment takes its id, which the reply has.
        // SAFETY: the race awaits this task, and so does the code after it.
        let beginning = Task { try await call() }
        let wait =
            kind == nil
            ? "Waiting for gotchud, to cancel it …; Ctrl-C again leaves it."
            : "Waiting for gotchud's answer …; the refund goes on. Ctrl-C again leaves it."
        do {
            let outcome = try await race(trap: trap) {
                try await withTaskCancellationHandler {
                    try await beginning.value
                } onCancel: {
                    output.message(wait)
                }
            }
            if case .finished(let payment) = outcome { return payment }
            let payment = try await beginning.value
            if payment.kind != nil, payment.state.isFinal { return payment }
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
