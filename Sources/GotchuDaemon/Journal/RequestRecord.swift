import GotchuAPI
import GotchuCore

/// What the journal keeps of one request, so that a restarted kiosk goes on with it.
struct RequestRecord: Codable, Equatable, Sendable {
    let sid: SessionID
    let eid: EID
    let server: String
    let amountCents: Int64
    let currency: Currency
    let memo: String?
    let createdAt: Timestamp
    let expiresAt: Timestamp
    var state: RequestView.State
    var paidAt: Timestamp?
    /// The call that asked for it, if it may be repeated.
    var call: IdempotentCall?
}
