import GotchuAPI
import PaymentClient

extension Answer {
    /// Returns the reply of a successful call.
    ///
    /// - Parameter tokens: The login that the call was made with.
    /// - Throws: The problem to return to the daemon's own caller.
    func getOrThrow(_ tokens: TokenStore) throws(Problem) -> Reply {
        switch self {
        case .success(let reply): return reply
        case .refused(let problem): throw problem
        case .unauthorized: throw .loginRefused(tokens)
        case .unknown(let outage): throw Problem(outage)
        }
    }
}

extension Problem {
    /// The problem of a call while nobody is logged in.
    static func notLoggedIn(_ tokens: TokenStore) -> Problem {
        let item = HealthItem.notLoggedIn(from: tokens.origin)
        return Problem(.notLoggedIn, detail: item.text, fix: item.fix)
    }

    /// The problem of a token that the server no longer accepts.
    static func loginRefused(_ tokens: TokenStore) -> Problem {
        let item = HealthItem.loginRefused(tokens)
        return Problem(.notLoggedIn, detail: item.text, fix: item.fix)
    }

    /// The problem of a call that would start something while the daemon shuts down.
    static var stopping: Problem {
        Problem(.tryAgain, detail: "gotchud is stopping.", fix: "Try again in a few seconds.")
    }

    init(_ outage: Outage) {
        let detail =
            switch outage.code {
            case .unreachable, .unknownName: "The payment server cannot be reached."
            case .refusedByProxy: "The proxy makes no connection to the payment server."
            case .untrusted: "The payment server's TLS certificate is not trusted."
            case .timedOut: "The payment server does not answer in time."
            case .busy: outage.serverDetail ?? "The payment server is busy."
            case .limited: outage.serverDetail ?? "The payment server gets too many calls."
            case .failing: "What stands before the payment server does not reach it."
            case .unreadable: "What answers at the payment server's address is not one."
            case .otherUser: "Somebody else is logged in by now."
            }
        let wait = outage.retryAfter.map { "Try again in \(max(1, $0.components.seconds)) s." }
        self.init(
            outage.code == .limited ? .rateLimited : .serverUnreachable,
            detail: detail,
            fix: wait ?? "gotchu-ctl status",
            retryable: true
        )
    }

    /// Creates the problem of a failed journal write. An operation starts only after its record is
    /// written.
    init(_ failure: JournalFailure) {
        let code: ErrorCode =
            if case .uncertain = failure { .outcomeUnknown } else { .journalUnwritable }
        self.init(code, detail: failure.sentence, fix: failure.fix)
    }
}
