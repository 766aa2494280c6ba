internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Pages
internal import Payments

/// The payment that the payer saw and confirmed, with its idempotency key, as fields of a form.
///
/// The key is created with the form. Thus a double click, a reload and a resend by the browser are
/// the same payment.
struct PaymentForm: Sendable {
    let session: SessionID
    let amount: Money
    /// The payee's public id. It is compared instead of the name, which is not unique.
    let payeeID: String
    /// The tip, in minor units. The amount does not include it.
    let tip: Int64
    let key: IdempotencyKey

    init(for session: Session, tip: Int64 = 0, key: IdempotencyKey = .random()) {
        self.session = session.id
        amount = session.amount
        payeeID = session.payee.publicID
        self.tip = tip
        self.key = key
    }

    /// Parses a submitted form.
    ///
    /// - Returns: `nil` if the typed tip is no amount, or is larger than allowed.
    /// - Throws: A problem: 400 for a field that is missing or malformed.
    init?(_ fields: inout FormFields) throws(Problem) {
        guard let session = fields.text("sid").flatMap({ SessionID(rawValue: $0) }),
            let cents = fields.text("amount_cents").flatMap({ Int64($0) }),
            Money.allowedRequest.contains(cents),
            let currency = fields.text("currency").flatMap({ Currency(rawValue: $0) }),
            let payeeID = fields.text("payee_id"),
            let key = fields.text("key").flatMap({ IdempotencyKey(rawValue: $0) })
        else { throw .invalid("The form is incomplete. Nothing was charged.") }
        let typed = (fields.typed("tip") ?? "").trimmed
        guard let tip = Money(typed: typed.isEmpty ? "0" : typed, currency: currency),
            Money.allowedTip(on: cents).contains(tip.minorUnits)
        else { return nil }
        self.session = session
        amount = Money(minorUnits: cents, currency: currency)
        self.payeeID = payeeID
        self.tip = tip.minorUnits
        self.key = key
    }

    /// Returns true if amount and payee are those of the session. For a group only the payee is
    /// compared, because the lock checks the amount of the share.
    func agrees(with session: Session) -> Bool {
        (session.amount == amount || session.figures != nil)
            && session.payee.publicID == payeeID
    }

    /// The fields of a form that submits the same payment again.
    var resubmissionFields: HTML {
        let tip = Money(minorUnits: tip, currency: amount.currency)
        return "\(requestFields)\(HTML.hidden("tip", tip.decimalText))"
    }

    /// The fields for the request that the payer sees, and the key; without the tip.
    var requestFields: HTML {
        """
        \(HTML.hidden("sid", session.rawValue))\
        \(HTML.hidden("amount_cents", "\(amount.minorUnits)"))\
        \(HTML.hidden("currency", amount.currency.rawValue))\
        \(HTML.hidden("payee_id", payeeID))\
        \(HTML.hidden("key", key.rawValue))
        """
    }
}
