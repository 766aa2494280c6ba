import GotchuAPI
import LocalAPI

extension PaymentWatch {
    /// Has gotchud begin a payment. Once it was asked to, no answer is no "no": it may be paying.
    ///
    /// - Parameter doubt: what is said where no answer came.
    static func begin(
        orElse doubt: CommandFailure,
        _ call: @escaping @Sendable () async throws -> PaymentView
    ) async throws -> PaymentView {
        do {
            switch try await race(call) {
            case .finished(let payment): return payment
            case .interrupted, .timedOut: throw doubt
            }
        } catch let failure as LocalClientFailure where failure.isNoAnswer {
            throw doubt
        }
    }
}

extension LocalClientFailure {
    /// Whether the call may have reached gotchud, which has said nothing about it.
    fileprivate var isNoAnswer: Bool {
        switch self {
        // Another version's answer comes after it has acted.
        case .connectionLost, .unreadableReply, .apiMismatch, .system: true
        // Without any time there was no connection.
        case .timedOut(let limit): limit > .zero
        case .noSocket, .refused, .permissionDenied, .pathTooLong, .problem: false
        }
    }
}
