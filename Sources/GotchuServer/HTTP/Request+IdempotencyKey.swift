internal import Crypto
internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger

extension Request {
    /// Returns the idempotency key, which a request that moves money must have.
    ///
    /// - Throws: A problem: 400 if the key is missing or malformed.
    func idempotencyKey() throws(Problem) -> IdempotencyKey {
        guard let header = headers[.idempotencyKey] else {
            throw Problem(
                .idempotencyKeyRequired,
                detail: "The call needs an Idempotency-Key, so that a resend moves no money twice.",
                retryable: false
            )
        }
        guard let key = IdempotencyKey(header: header) else { throw .malformedKey }
        return key
    }
}

extension KeyedRequest {
    init(
        _ user: UserID,
        _ key: IdempotencyKey,
        _ fingerprint: Fingerprint,
        _ context: ServerContext
    ) {
        self.init(user: user, key: key, fingerprint: fingerprint, id: context.requestID)
    }

    init(_ visit: WebVisit, _ key: IdempotencyKey, _ fingerprint: Fingerprint) {
        self.init(visit.user, key, fingerprint, visit.context)
    }
}

extension Problem {
    static var malformedKey: Problem {
        .invalid("An idempotency key is 16 to 255 visible ASCII characters, bare or quoted.")
    }
}

extension Fingerprint {
    /// Returns the fingerprint of a payment. Amounts are in minor units.
    static func payment(_ session: SessionID, expecting amount: Int64?, tip: Int64) -> Self {
        Self("POST /wallet/send", session, amount, tip)
    }

    /// Returns the fingerprint of a refund. The amount is in minor units.
    static func refund(_ session: SessionID, amount: Int64?) -> Self {
        Self("POST /sessions/refund", session, amount)
    }

    static func deposit(
        _ amount: Money,
        reference: String?,
        _ presentation: Presentation
    ) -> Self {
        Self([
            "POST /api/payments/intents", "\(amount.minorUnits)", amount.currency.rawValue,
            reference.map { "\"\($0)\"" } ?? "-", presentation.rawValue,
        ])
    }

    static func withdrawal(_ amount: Money, to bankAccount: String?) -> Self {
        Self([
            "POST /api/wallet/withdrawals", "\(amount.minorUnits)", amount.currency.rawValue,
            bankAccount ?? "-",
        ])
    }

    static func contest(_ command: String, _ parameters: [String]) -> Self {
        Self(["contests", command] + parameters)
    }

    private init(_ call: String, _ session: SessionID, _ amounts: Int64?...) {
        self.init(["\(call)", "\(session)"] + amounts.map { $0.map { "\($0)" } ?? "-" })
    }

    /// Computes the fingerprint from the parsed values, not from the bytes. Thus requests that
    /// differ only in the order of members have the same fingerprint.
    private init(_ parameters: [String]) {
        let text = parameters.joined(separator: "\n")
        let digest = Array(SHA256.hash(data: Array(text.utf8)))
        guard let fingerprint = Fingerprint(bytes: digest) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        self = fingerprint
    }
}
