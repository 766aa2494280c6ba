/// An error answer of either API: RFC 9457 `application/problem+json`.
///
/// `error` and `code` are the members that the first clients read; the others are the standard's.
package struct Problem: Codable, Equatable, Sendable, Error {
    /// `about:blank` always: the code says what kind of problem it is.
    package var type = "about:blank"
    /// The reason phrase of the status.
    package var title: String
    /// The HTTP status, the same as the reply's.
    package var status: Int
    /// One sentence for a person. Never a secret, never another user's data.
    package var detail: String
    /// The same sentence under the name that the first clients use.
    package var error: String
    /// The stable code; a string, so that a client survives a code it does not know.
    package var code: String
    /// The action that helps a person, if there is one.
    package var fix: String?
    /// On money calls: true if the same request, sent again, may succeed.
    package var retryable: Bool?
    /// With `INSUFFICIENT_WALLET_BALANCE`: what the payment or refund needs, in minor units.
    package var requiredCents: Int64?
    /// With `INSUFFICIENT_WALLET_BALANCE`: what the wallet has, in minor units.
    package var availableCents: Int64?
    /// The server's id of this request, to be quoted when asking for help.
    package var requestID: String?
    /// On calls of contests: the code again, under the name that their first clients use.
    package var repeatedCode: String?
    /// On calls of contests: the sentence again, likewise.
    package var reason: String?
    /// A Boolean that is true if the server repeats a refusal that it stored under the call's key:
    /// the header `Idempotent-Replayed`, so no member of the document.
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

    /// The code as a known one, or `nil` if the other side is newer than we are.
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
    /// The problem with its code and sentence once more, under the names of the first clients of
    /// contests.
    package var ofContests: Problem {
        var problem = self
        problem.repeatedCode = code
        problem.reason = detail
        return problem
    }
}
