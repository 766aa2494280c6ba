import GotchuAPI
import GotchuCore
import PaymentClient

extension RequestService {
    /// Reads from the payment server the refunded amount of a paid request. The payee's other tills
    /// and pages can refund it too. Does nothing if the request was not paid.
    ///
    /// The server's events do not report refunds.
    func refresh(_ id: SessionID) async throws(Problem) -> RequestView {
        guard try view(of: id).state == .paid else { return try view(of: id) }
        let session = try await client.session(id).getOrThrow(tokens)
        // The record may have been evicted during the call.
        if let record = record(id), session.wrongMembers(for: id, record).isEmpty {
            refunded[id] = session.refundedCents?.value ?? refunded[id]
        }
        return try view(of: id)
    }
}
