import GotchuAPI
import GotchuCore

/// One line of the journal: the newest state of a payment, a refund, a request, a withdrawal or a
/// contest entry.
enum JournalRecord: Codable, Equatable, Sendable {
    case payment(PaymentRecord)
    case refund(RefundRecord)
    case request(RequestRecord)
    case withdrawal(WithdrawalRecord)
    case contestEntry(ContestEntryRecord)
}

/// The contents of the journal: the newest record of each id.
struct JournalContents: Equatable, Sendable {
    var payments: [String: PaymentRecord] = [:]
    var refunds: [String: RefundRecord] = [:]
    var requests: [String: RequestRecord] = [:]
    var withdrawals: [String: WithdrawalRecord] = [:]
    var contestEntries: [String: ContestEntryRecord] = [:]
    /// The number of lines that were read or added.
    var lineCount = 0

    /// The maximum number of ended records of each kind that a rewritten journal keeps.
    static let endedLimit = 200

    /// The time after its expiry for which a rewritten journal keeps a request that has not ended.
    /// After that the record is dropped. The payee loses nothing: the server's ledger has the
    /// payment.
    static let unknownLifetime: Duration = .seconds(24 * 3600)

    mutating func add(_ record: JournalRecord) {
        lineCount += 1
        switch record {
        case .payment(let payment): payments[payment.id] = payment
        case .refund(let refund): refunds[refund.id] = refund
        case .request(let request): requests[request.sid.rawValue] = request
        case .withdrawal(let withdrawal): withdrawals[withdrawal.id] = withdrawal
        case .contestEntry(let entry): contestEntries[entry.id] = entry
        }
    }

    /// The records of a rewritten journal: the open ones, and the newest ended ones.
    var retainedRecords: [JournalRecord] {
        let oldest = Timestamp.now.advanced(by: .zero - Self.unknownLifetime)
        return Self.retained(payments.values) + Self.retained(refunds.values)
            + Self.retained(withdrawals.values) + Self.retained(contestEntries.values)
            + requests.values.filter(\.state.isFinal)
            .sorted { $0.createdAt < $1.createdAt }.suffix(Self.endedLimit)
            .map(JournalRecord.request)
            + requests.values.filter { !$0.state.isFinal && $0.expiresAt > oldest }
            .map(JournalRecord.request)
    }

    private static func retained(
        _ records: some Sequence<some JournalledRecord>
    ) -> [JournalRecord] {
        let oldestFirst = records.sorted { $0.createdAt < $1.createdAt }
        return oldestFirst.filter { !$0.isOpen }.suffix(endedLimit).map(\.line)
            + oldestFirst.filter(\.isOpen).map(\.line)
    }
}
