package import GotchuAPI
import GotchuCore
import NIOHTTP1

extension PaymentClient {
    /// Reads the earnings: the payments to the wallet less the refunds. They are also given by hour
    /// or day of the selected period.
    ///
    /// - Returns: The earnings. Refused with `VALIDATION_ERROR` if the zone is invalid or there are
    ///   too many days.
    package func earnings(of selection: EarningsSelection) async -> Answer<EarningsReply> {
        let parts = selection.step.map { "&by=\($0.rawValue)" } ?? ""
        return decode(await raw(.GET, "/api/payments/earnings?\(selection.query)\(parts)"))
    }

    /// Reads a page of the payments and refunds behind the earnings, newest first.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of entries in the page, 1 to 100.
    ///   - cursor: The `nextCursor` of the previous page.
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
