import GotchuAPI
import GotchuCore

/// A request in the journal. A restarted kiosk resumes it. Most members are those of `RequestView`.
struct RequestRecord: Codable, Equatable, Sendable {
    let sid: SessionID
    /// The current EID.
    var eid: EID
    let server: String
    let amountCents: Int64
    var tipCents: Int64?
    var places: Places?
    var isAllOrNothing: Bool?
    var contest: DeskContest?
    let currency: Currency
    let memo: String?
    let createdAt: Timestamp
    let expiresAt: Timestamp
    var state: RequestView.State
    /// True from the first record on until the second one, before which the till is told nothing. A
    /// request that a start finds so is cancelled.
    var isBegun: Bool?
    var paidAt: Timestamp?
    /// The payee's name as payers see it.
    var payee: String?
    /// The origin of the payment server's pages for payers.
    var publicURL: String?
    /// The call that created the request, if that call has an idempotency key.
    var call: IdempotentCall?
    /// True if the server may have assigned another EID that is not known here yet.
    var isRotating: Bool?
    /// The EID that the caller was given; `nil` while the request still has it.
    var firstEID: EID?

    var amount: Money { Money(minorUnits: amountCents, currency: currency) }

    var payLink: String? {
        guard state == .advertising, let publicURL else { return nil }
        return "\(publicURL)/p/\(eid)".uppercased()
    }
}
