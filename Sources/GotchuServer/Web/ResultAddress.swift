internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Payments

/// The address of a payment's result: the payment that was submitted, and the code of the session
/// that has submitted it.
///
/// Anybody can make such an address. The code proves that this browser has submitted the payment.
/// Without it, a page of the address only shows what the ledger has.
struct ResultAddress: Sendable {
    let eid: EID
    let session: SessionID
    let key: IdempotencyKey
    /// The amount of the form in minor units. For a group it is that of one share.
    private let amount: Int64?
    /// The tip in minor units. The amount does not include it.
    private let tip: Int64
    private let code: String?

    init(of payment: PaymentForm, _ eid: EID) {
        self.eid = eid
        session = payment.session
        key = payment.key
        amount = payment.amount.minorUnits
        tip = payment.tip
        code = nil
    }

    /// Parses the query of a request for such an address.
    ///
    /// - Returns: `nil` without an id of a session or a key.
    /// - Throws: A problem: 400 for an amount that cannot be one.
    init?(_ request: Request, _ eid: EID) throws(Problem) {
        var query = try QueryParameters(page: request, "sid", "key", "amount", "tip", "code")
        amount = try query.integer("amount", in: Money.allowedRequest)
        tip = try query.integer("tip", in: 1...Money.allowedRequest.upperBound) ?? 0
        code = query.text("code")
        guard let session = query.text("sid").flatMap({ SessionID(rawValue: $0) }),
            let key = query.text("key").flatMap({ IdempotencyKey(rawValue: $0) })
        else { return nil }
        self.eid = eid
        self.session = session
        self.key = key
    }

    /// The address without the code.
    private var unsigned: String {
        var query = "sid=\(session)&key=\(WebPath.escaped(key.rawValue))"
        if let amount { query += "&amount=\(amount)" }
        if tip > 0 { query += "&tip=\(tip)" }
        return "\(WebPath.request(eid))\(WebPath.resultSuffix)?\(query)"
    }

    /// Returns the text that is signed. Keys of forms, which the same token signs, have no colon
    /// before a slash.
    private static func signed(_ address: String) -> String { "result:\(address)" }

    /// Returns the address with the code of a session.
    func text(for token: SessionToken) -> String {
        let unsigned = unsigned
        return "\(unsigned)&code=\(token.text(for: Self.signed(unsigned)))"
    }

    /// Returns the payment in the address; `nil` if the address has no code of this session.
    func payment(of seen: Session, by token: SessionToken) -> PaymentForm? {
        guard let amount, let code, token.isCode(code, for: Self.signed(unsigned)) else {
            return nil
        }
        var session = seen
        session.amount = Money(minorUnits: amount, currency: seen.amount.currency)
        return PaymentForm(for: session, tip: tip, key: key)
    }
}
