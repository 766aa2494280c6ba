import GotchuCore

/// The outcome of a call, with or without a reply. Every reply has exactly one.
package enum StripeOutcome<Reply: Sendable>: Sendable {
    /// Stripe has done it, now or in an earlier attempt with this key.
    case done(Reply)
    /// A definite refusal: nothing was done, and a retry with the same key gets the same answer.
    case refused(StripeProblem)
    /// Nothing was done, and a retry with the same key gets the same answer; with a new key the
    /// call can succeed later, when there are funds.
    case insufficient(StripeProblem)
    /// It may have been done: retry with the same key after a wait.
    case unknown(StripeFault)
    /// It may have been done, and the same key will not show it: search for the object.
    case unresolved(StripeFault)
    /// Nothing is known of this attempt: retry later with the same key. Stripe is busy, or we have
    /// made too many calls.
    case throttled(retryAfter: Duration?)
    /// Nothing was done: this server's API key is not accepted, or lacks a permission. No record
    /// fails because of it; the operator has to act.
    case misconfigured(StripeProblem)
    /// The key was used with other parameters: a bug of ours, or a restored ledger.
    case keyReused(StripeProblem)

    /// Returns the outcome; if the call was done, the result of `transform`.
    package func then<Other>(_ transform: (Reply) -> StripeOutcome<Other>) -> StripeOutcome<Other> {
        switch self {
        case .done(let reply): transform(reply)
        case .refused(let problem): .refused(problem)
        case .insufficient(let problem): .insufficient(problem)
        case .unknown(let fault): .unknown(fault)
        case .unresolved(let fault): .unresolved(fault)
        case .throttled(let retryAfter): .throttled(retryAfter: retryAfter)
        case .misconfigured(let problem): .misconfigured(problem)
        case .keyReused(let problem): .keyReused(problem)
        }
    }

    var kind: StripeOutcomeKind {
        switch self {
        case .done: .done
        case .refused: .refused
        case .insufficient: .insufficient
        case .unknown: .unknown
        case .unresolved: .unresolved
        case .throttled: .throttled
        case .misconfigured: .misconfigured
        case .keyReused: .keyReused
        }
    }

    /// The reason why the call was not done; `nil` if it was done or throttled.
    package var failure: (any Error)? {
        switch self {
        case .refused(let problem), .insufficient(let problem), .misconfigured(let problem),
            .keyReused(let problem):
            problem
        case .unknown(let fault), .unresolved(let fault): fault
        case .done, .throttled: nil
        }
    }

    /// A Boolean that is true if Stripe itself answered a call that was made, with any answer.
    var isAnswer: Bool {
        switch self {
        case .done, .refused, .insufficient, .misconfigured, .keyReused: true
        case .unknown(let fault), .unresolved(let fault): fault.status != nil && fault.isStripes
        case .throttled: true
        }
    }
}

/// The kinds of outcomes, as named in metrics.
package enum StripeOutcomeKind: String, Sendable {
    case done, refused, insufficient, unknown, unresolved, throttled, misconfigured
    case keyReused = "key_reused"
}

/// A refusal by Stripe. Its texts contain none of our secrets.
package struct StripeProblem: Error, Equatable, Sendable {
    /// The lengths to which codes and messages are cut, in Unicode scalars.
    private static let codeLimit = 64
    private static let messageLimit = 300

    /// `card_error`, `invalid_request_error`, `api_error` or `idempotency_error`.
    let type: String
    /// `balance_insufficient`, `resource_missing`, …; empty if there is none.
    package let code: String
    /// The message for the operator, in English. Empty if it may contain a secret.
    package let message: String
    /// A Boolean that is true if it replays the refusal of an earlier attempt with the key.
    package let isReplay: Bool

    init(type: String, code: String, message: String, isReplay: Bool) {
        self.isReplay = isReplay
        self.type = type.cut(to: Self.codeLimit)
        self.code = code.cut(to: Self.codeLimit)
        self.message = Self.isSecret(message) ? "" : message.cut(to: Self.messageLimit)
    }

    /// Returns true if a message contains a part of a key or of a client secret.
    private static func isSecret(_ text: String) -> Bool {
        ["sk_", "rk_", "whsec_", "_secret_", "ek_"].contains { text.contains($0) }
    }
}

/// The reason why the outcome of a call is unknown.
package struct StripeFault: Error, Equatable, Sendable {
    package enum Reason: String, Sendable {
        case unreachable, untrusted, unreadable, failing
        case timedOut = "timed_out"
        case tooLarge = "too_large"
    }

    package let reason: Reason
    /// The status of the reply, if there was one.
    package let status: Int?
    /// A Boolean that is true if the reply has Stripe's format: it is not from a proxy in between.
    let isStripes: Bool

    init(_ reason: Reason, status: Int? = nil, isStripes: Bool = false) {
        self.reason = reason
        self.status = status
        self.isStripes = isStripes
    }
}

/// A reply before it is classified.
struct RawReply: Sendable {
    let status: Int
    var body: [UInt8] = []
    /// `Stripe-Should-Retry`: Stripe's advice on retries, which is not always present.
    var shouldRetry: Bool?
    /// `Idempotent-Replayed`: true if it is the first execution's reply, stored under the key.
    var isReplay = false
    var retryAfter: Duration?

    /// Classifies the reply by the rules of Stripe's idempotency keys.
    ///
    /// The first execution's reply is replayed, even a 500. A reply about invalid parameters, a
    /// conflict or a rate limit is not replayed. Sources: docs.stripe.com/api/idempotent_requests,
    /// docs.stripe.com/error-low-level (`Stripe-Should-Retry`).
    var outcome: StripeOutcome<[UInt8]> {
        if (200..<300).contains(status) { return .done(body) }
        guard let problem = problem else {
            // An error page of a proxy in between, a redirect, or a truncated reply.
            return unknown(status >= 500 ? .failing : .unreadable)
        }
        if problem.type == "idempotency_error" {
            // A call in progress is a 409, other parameters are a 400.
            return status == 409 ? .throttled(retryAfter: retryAfter) : .keyReused(problem)
        }
        switch status {
        // The account that the call is about is closed, or no longer connected to this platform.
        case 403 where problem.code == "account_invalid": return .refused(problem)
        case 401, 403: return .misconfigured(problem)
        case 409, 429: return .throttled(retryAfter: retryAfter)
        case 408, 424, 425, 500...: return unknown(.failing, isStripes: true)
        case 400..<500 where problem.type == "api_error":
            return unknown(.failing, isStripes: true)
        case 400..<500:
            let isShort = ["balance_insufficient", "insufficient_funds"].contains(problem.code)
            return isShort ? .insufficient(problem) : .refused(problem)
        default:  // SAFETY: a status is any number; any other one is unclear.
            return unknown(.unreadable)
        }
    }

    private func unknown(
        _ reason: StripeFault.Reason,
        isStripes: Bool = false
    ) -> StripeOutcome<[UInt8]> {
        let fault = StripeFault(reason, status: status, isStripes: isStripes)
        // A replayed failure will be replayed as long as the key is stored.
        return shouldRetry == false || isReplay ? .unresolved(fault) : .unknown(fault)
    }

    private struct Document: Decodable {
        let error: Problem
    }

    private struct Problem: Decodable {
        let type: String
        let code: String?
        let message: String?
    }

    /// The error object; `nil` if the body has none.
    private var problem: StripeProblem? {
        let document = try? JSONReader.decode(Document.self, body, checksText: false)
        guard let document else { return nil }
        return StripeProblem(
            type: document.error.type,
            code: document.error.code ?? "",
            message: document.error.message ?? "",
            isReplay: isReplay
        )
    }
}

extension String {
    /// Returns the text cut to a number of scalars.
    fileprivate func cut(to limit: Int) -> String {
        String(String.UnicodeScalarView(unicodeScalars.prefix(limit)))
    }
}
