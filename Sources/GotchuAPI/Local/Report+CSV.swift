import GotchuCore

extension ReportReply {
    private static let titles = [
        "row", "starts_at", "local_time", "currency", "payments", "taken_cents", "taken",
        "refunds", "refunded_cents", "refunded", "kept_cents", "kept", "unknown_cents", "unknown",
        "memo",
    ]

    /// The report as CSV (RFC 4180). Its rows are the hours, the day, and the requests and refunds
    /// with an unknown outcome. Amounts are given in minor units and in the currency itself.
    package var csv: String {
        let rows =
            hours.map { hour in
                ["hour", hour.startsAt.value.iso8601, hour.localTime] + fields(hour.counts)
                    + ["", "", ""]
            } + [
                ["day", hours.first?.startsAt.value.iso8601 ?? "", hours.first?.localTime ?? ""]
                    + fields(counts) + ["", "", ""]
            ]
            + unknown.map { item in
                [
                    "unknown \(item.kind.rawValue)", item.createdAt.iso8601, "",
                    item.currency.rawValue,
                ]
                    + Array(repeating: "", count: 8) + both(item.amountCents, item.currency)
                    + [item.memo ?? ""]
            }
        return CSV.header(Self.titles) + rows.map(CSV.row).joined()
    }

    private func fields(_ counts: EarningsCounts) -> [String] {
        [currency.rawValue, "\(counts.paymentCount)"] + both(counts.takenCents, currency)
            + ["\(counts.refundCount)"] + both(counts.refundedCents, currency)
            + both(counts.keptCents, currency)
    }

    private func both(_ cents: Int64, _ currency: Currency) -> [String] {
        ["\(cents)", Money(minorUnits: cents, currency: currency).decimalText]
    }
}
