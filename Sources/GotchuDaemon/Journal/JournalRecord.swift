import GotchuAPI
import GotchuCore

/// One line of the journal: the newest state of a payment or of a request.
enum JournalRecord: Codable, Equatable, Sendable {
    case payment(PaymentRecord)
    case request(RequestRecord)
}

/// Everything that the journal knows.
struct JournalContents: Equatable, Sendable {
    var payments: [String: PaymentRecord] = [:]
    var requests: [String: RequestRecord] = [:]
    /// How many lines it was read from.
    var lineCount = 0

    /// How many ended payments, and as many requests, are kept when the journal is rewritten.
    static let endedLimit = 200

    /// For how long a request is kept whose end nobody could tell. It costs the payee nothing: the
    /// server's books have it.
    static let unknownLifetime: Duration = .seconds(24 * 3600)

    mutating func add(_ record: JournalRecord) {
        lineCount += 1
        switch record {
        case .payment(let payment): payments[payment.id] = payment
        case .request(let request): requests[request.sid.rawValue] = request
        }
    }

    /// What a rewritten journal holds: all that is open and the newest of what has ended, oldest
    /// first.
    var worthKeeping: [JournalRecord] {
        let endedPayments = payments.values.filter { !$0.isOpen }
            .sorted { $0.createdAt < $1.createdAt }.suffix(Self.endedLimit)
        let endedRequests = requests.values.filter(\.state.isFinal)
            .sorted { $0.createdAt < $1.createdAt }.suffix(Self.endedLimit)
        let oldest = Timestamp.now.advanced(by: .zero - Self.unknownLifetime)
        let open: [JournalRecord] =
            payments.values.filter(\.isOpen).map(JournalRecord.payment)
            + requests.values.filter { !$0.state.isFinal && $0.expiresAt > oldest }
            .map(JournalRecord.request)
        return endedPayments.map(JournalRecord.payment) + endedRequests.map(JournalRecord.request)
            + open
    }
}
