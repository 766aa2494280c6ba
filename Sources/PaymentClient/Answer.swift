package import GotchuAPI

/// The outcome of a call to the payment server.
package enum Answer<Reply: Sendable>: Sendable {
    /// The server has carried out the call.
    case success(Reply)
    /// The server has definitely refused the call, with its reason. Only a problem document with a
    /// code is a refusal: a proxy's error page decides nothing about money.
    case refused(Problem)
    /// 401: the token is missing, expired or invalid. The server has decided nothing.
    case unauthorized(Problem)
    /// The outcome is unknown.
    case unknown(Outage)
}

/// The reason why there is no definite answer.
package struct Outage: Error, Equatable, Sendable {
    package var code: Code
    /// The server's `Retry-After`, if it sent one.
    package var retryAfter: Duration?
    /// The server's reason, for a person.
    package var serverDetail: String?
    /// The underlying error, for logs only.
    package var underlying: String?

    package init(
        _ code: Code,
        retryAfter: Duration? = nil,
        serverDetail: String? = nil,
        underlying: String? = nil
    ) {
        self.code = code
        self.retryAfter = retryAfter
        self.serverDetail = serverDetail
        self.underlying = underlying
    }

    /// Stable codes.
    package enum Code: String, Sendable {
        /// There was no connection, or it was lost.
        case unreachable
        /// The server's name has no known address.
        case unknownName = "unknown-name"
        /// The proxy has answered but does not connect to the server.
        case refusedByProxy = "refused-by-proxy"
        /// This machine does not trust the server's certificate, or TLS could not be negotiated.
        case untrusted
        case timedOut = "timed-out"
        /// 408, or a 5xx of the server itself. The call can be retried later.
        case busy
        /// 429: calls are limited. It says nothing of an earlier call with the same key. The call
        /// can be retried later.
        case limited
        /// A 5xx without the server's problem document. A proxy, for example, cannot reach the
        /// server.
        case failing
        /// A reply that no payment server would send.
        case unreadable
        /// The call belongs to another user than the one who is logged in now. It was not made.
        case otherUser = "other-user"
    }
}

extension Outage: CustomStringConvertible {
    package var description: String { code.rawValue + (underlying.map { " (\($0))" } ?? "") }
}

extension Answer {
    /// Returns the same answer with a transformed reply.
    package func map<Other: Sendable>(_ transform: (Reply) -> Other) -> Answer<Other> {
        switch self {
        case .success(let reply): .success(transform(reply))
        case .refused(let problem): .refused(problem)
        case .unauthorized(let problem): .unauthorized(problem)
        case .unknown(let outage): .unknown(outage)
        }
    }

    /// Returns the same answer if the reply confirms the call; otherwise `.unknown` with
    /// `unreadable`.
    func requiring(_ isDone: (Reply) -> Bool) -> Answer<Reply> {
        guard case .success(let reply) = self, !isDone(reply) else { return self }
        return .unknown(Outage(.unreadable, underlying: "a reply that is not ok"))
    }
}
