import GotchuAPI
import GotchuCore
import PaymentClient

extension RequestService {
    /// Asks the payment server how much of a paid request was refunded: the payee's other tills and
    /// pages can refund it, too. Does nothing for a request that was not paid.
    ///
    /// No event reports a refund: one with `paid` means that it was paid now.
    func refresh(_ id: SessionID) async throws(Problem) -> RequestView {
        guard try view(of: id).state == .paid else { return try view(of: id) }
        let session = try await client.session(id).getOrThrow(tokens)
        // It may have been forgotten meanwhile.
        if session.sid == id, record(id) != nil, let cents = session.refundedCents?.value {
            refunded[id] = cents
        }
        return try view(of: id)
    }
}
