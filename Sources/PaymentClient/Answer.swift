package import GotchuAPI

/// The outcome of a call to the payment server.
package enum Answer<Reply: Sendable>: Sendable {
    /// The server did it.
    case success(Reply)
    /// The server definitely did not, and said why in its own words. Only a problem document with a
    /// code counts: an error page of some proxy decides nothing about money.
    case refused(Problem)
    /// 401: the token is missing, expired or not accepted; nothing was decided.
    case unauthorized(Problem)
    /// Nobody knows.
    case unknown(Outage)
}

/// The reason why there is no definite answer.
package struct Outage: Error, Equatable, Sendable {
    package var code: Code
    /// The server's `Retry-After`, if it sent one.
    package var retryAfter: Duration?
    /// The reason that the server itself gave, for a person.
    package var said: String?
    /// The underlying error, for logs. Never matched on.
    package var underlying: String?

    package init(
        _ code: Code,
        retryAfter: Duration? = nil,
        said: String? = nil,
        underlying: String? = nil
    ) {
        self.code = code
        self.retryAfter = retryAfter
        self.said = said
        self.underlying = underlying
    }

    /// Stable codes.
    package enum Code: String, Sendable {
        /// No connection, or it broke.
        case unreachable
        /// No address is known for the server's name.
        case unknownName = "unknown-name"
        /// The proxy before it was reached, and makes no connection to it.
        case refusedByProxy = "refused-by-proxy"
        /// Its certificate is not one that this machine trusts, or TLS could not be agreed on.
        case untrusted
        /// No answer in time.
        case timedOut = "timed-out"
        /// 408, 429, or 5xx in the server's own words: come back.
        case busy
        /// 5xx in somebody else's words: what stands before the server does not reach it.
        case failing
        /// An answer that is not the payment server's.
        case unreadable
        /// The call is one user's, and another one is logged in by now: it was not made.
        case otherUser = "other-user"
    }
}

extension Outage: CustomStringConvertible {
    package var description: String { code.rawValue + (underlying.map { " (\($0))" } ?? "") }
}

extension Answer {
    /// The same answer about something made from the reply.
    package func map<Other: Sendable>(_ transform: (Reply) -> Other) -> Answer<Other> {
        switch self {
        case .success(let reply): .success(transform(reply))
        case .refused(let problem): .refused(problem)
        case .unauthorized(let problem): .unauthorized(problem)
        case .unknown(let outage): .unknown(outage)
        }
    }

    /// The same answer, but a reply that does not say that it was done is no answer at all.
    func requiring(_ isDone: (Reply) -> Bool) -> Answer<Reply> {
        guard case .success(let reply) = self, !isDone(reply) else { return self }
        return .unknown(Outage(.unreadable, underlying: "a reply that is not ok"))
    }
}
