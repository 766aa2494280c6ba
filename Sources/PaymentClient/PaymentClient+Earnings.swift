package import GotchuAPI
import GotchuCore
import NIOHTTP1

extension PaymentClient {
    /// Reads what the caller's wallet was paid less what it refunded, with the hours or days of the
    /// time that is asked for.
    ///
    /// - Returns: Refused with `VALIDATION_ERROR` for what is no zone, and for too many days.
    package func earnings(of selection: EarningsSelection) async -> Answer<EarningsReply> {
        let parts = selection.step.map { "&by=\($0.rawValue)" } ?? ""
        return decode(await raw(.GET, "/api/payments/earnings?\(selection.query)\(parts)"))
    }

    /// Reads a page of the payments and refunds behind the earnings, newest first.
    ///
    /// - Parameters:
    ///   - limit: The most entries of the page, 1 to 100.
    ///   - cursor: The `nextCursor` of the page before.
    package func earningsHistory(
        of selection: EarningsSelection,
        limit: Int64,
        cursor: String?
    ) async -> Answer<EarningsHistoryReply> {
        let place = cursor.map { "&cursor=\(percentEncoded($0))" } ?? ""
        let query = "\(selection.query)&limit=\(limit)\(place)"
        return decode(await raw(.GET, "/api/payments/earnings/history?\(query)"))
    }
}
