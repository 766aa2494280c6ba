package import GotchuAPI
package import GotchuCore
import NIOHTTP1

extension PaymentClient {
    /// Reads what the caller's wallet was paid and refunded on a day, by hour.
    ///
    /// - Parameters:
    ///   - day: A date; `nil` for today.
    ///   - zone: The name of the time zone whose day it is.
    /// - Returns: Refused with `VALIDATION_ERROR` for what is no zone.
    package func earnings(on day: CalendarDay?, zone: ZoneName) async -> Answer<EarningsReply> {
        let dates = day.map { "from=\($0)&to=\($0)" } ?? "period=today"
        let name = percentEncoded(zone.rawValue)
        return decode(await raw(.GET, "/api/payments/earnings?\(dates)&by=hour&zone=\(name)"))
    }
}
