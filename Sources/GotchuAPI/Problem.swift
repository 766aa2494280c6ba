package import GotchuCore

/// An error reply of either API: RFC 9457 `application/problem+json`.
///
/// The members `error` and `code` exist for the first clients. The others are the standard's, or
/// extensions of it.
package struct Problem: Codable, Equatable, Sendable, Error {
    /// The type, always `about:blank`. The code identifies the problem.
    package var type = "about:blank"
    /// The reason phrase of the status.
    package var title: String
    /// The HTTP status, the same as the reply's.
    package var status: Int
    /// One sentence for a person, without secrets and other users' data.
    package var detail: String
    /// The same sentence under the name that the first clients use.
    package var error: String
    /// The stable code. A string, because a client may not know the code of a newer server.
    package var code: String
    /// The action that helps the person, if any.
    package var fix: String?
    /// True if the same request may succeed when it is repeated. Only for calls that move money.
    package var retryable: Bool?
    /// With `INSUFFICIENT_WALLET_BALANCE`: the amount needed, in minor units.
    package var requiredCents: Int64?
    /// With `INSUFFICIENT_WALLET_BALANCE`: the amount in the wallet, in minor units.
    package var availableCents: Int64?
    /// The server's id of this request, to quote to its operator.
    package var requestID: String?
    /// On contest calls: the code again, under the name that the first contest clients use.
    package var repeatedCode: String?
    /// On contest calls: the sentence again, under the name that these clients use.
    package var reason: String?
    /// A Boolean that is true if the server repeats a refusal stored under the call's key. Sent as
    /// the header `Idempotent-Replayed`, not in the document.
    package var isReplay = false

    package init(
        _ code: ErrorCode,
        detail: String,
        fix: String? = nil,
        retryable: Bool? = nil
    ) {
        self.title = Self.reasonPhrase(of: code.httpStatus)
        self.status = code.httpStatus
        self.detail = detail
        self.error = detail
        self.code = code.rawValue
        self.fix = fix
        self.retryable = retryable
    }

    /// The code, if this version knows it; otherwise `nil`.
    package var errorCode: ErrorCode? { ErrorCode(rawValue: code) }

    enum CodingKeys: String, CodingKey {
        case type, title, status, detail, error, code, fix, retryable, reason
        case repeatedCode = "error_code"
        case requiredCents = "required_cents"
        case availableCents = "available_cents"
        case requestID = "request_id"
    }

    package static func reasonPhrase(of status: Int) -> String {
        switch status {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 402: "Payment Required"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 409: "Conflict"
        case 410: "Gone"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 500: "Internal Server Error"
        default: "HTTP \(status)"
        }
    }
}

extension Problem {
    /// The problem with its code and sentence repeated, under the names that the first contest
    /// clients use.
    package var withContestFields: Problem {
        var problem = self
        problem.repeatedCode = code
        problem.reason = detail
        return problem
    }
}

extension Decline {
    package init(_ problem: Problem) {
        self.init(code: problem.code, detail: problem.detail)
    }
}
