import GotchuAPI
import GotchuCore

extension PaymentService {
    /// The outcomes of payments since the start.
    struct Counts: Sendable {
        var payments = Tally()
        var refunds = Tally()
        /// The time from the first sighting at a near level to the server's confirmation of the
        /// payment.
        var tapLatency = Histogram.human

        mutating func began(_ record: any MoneyRecord) {
            if record is RefundRecord { refunds.started += 1 } else { payments.started += 1 }
        }

        mutating func ended(_ record: any MoneyRecord, nearSince since: MonotonicTime?) {
            if record is RefundRecord { return refunds.count(record) }
            payments.count(record)
            if let since, record.receipt != nil { tapLatency.observe(MonotonicTime.now - since) }
        }
    }

    /// The numbers of started and ended payments or refunds.
    struct Tally: Sendable {
        var started = 0
        var done = 0
        /// The number that the server had already carried out under the same key. They are also in
        /// `done`.
        var repeated = 0
        /// The refusals by code. Codes that `ErrorCode` does not have are counted under `nil`.
        var declined: [ErrorCode?: Int] = [:]

        mutating func count(_ ended: any MoneyRecord) {
            if let receipt = ended.receipt {
                done += 1
                if receipt.wasMadeBefore == true { repeated += 1 }
            } else {
                let code = ended.refusal.flatMap { ErrorCode(rawValue: $0.code) }
                declined[code, default: 0] += 1
            }
        }
    }
}
