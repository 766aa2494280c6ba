import GotchuAPI
import GotchuCore

extension PaymentService {
    /// The outcomes of payments since the start.
    struct Counts: Sendable {
        var payments = Tally()
        var refunds = Tally()
        /// From the first sighting at a near level to the server's word that it is paid.
        var tapLatency = Histogram.human
    }

    /// The numbers of payments, or refunds, that began and ended.
    struct Tally: Sendable {
        var started = 0
        var done = 0
        /// Of those, how many the server had done before under the same key: nothing more moved.
        var repeated = 0
        /// By the code of the refusal, where it is one of ours; others are counted under `nil`.
        var declined: [ErrorCode?: Int] = [:]

        mutating func count(_ ended: PaymentRecord) {
            guard ended.stage != .paid else {
                done += 1
                if ended.receipt?.wasMadeBefore == true { repeated += 1 }
                return
            }
            let code = ended.refusal.flatMap { ErrorCode(rawValue: $0.code) }
            declined[code, default: 0] += 1
        }
    }
}
