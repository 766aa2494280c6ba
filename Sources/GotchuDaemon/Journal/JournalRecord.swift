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

extension JournalRecord {
    /// The kinds of records.
    fileprivate enum Kind { case payment, refund, request, withdrawal, contestEntry }

    /// The id is unique among the records of its kind.
    fileprivate var key: (kind: Kind, id: String, isOpen: Bool) {
        switch self {
        case .payment(let record): (.payment, record.id, record.isOpen)
        case .refund(let record): (.refund, record.id, record.isOpen)
        case .request(let record): (.request, record.sid.rawValue, !record.state.isFinal)
        case .withdrawal(let record): (.withdrawal, record.id, record.isOpen)
        case .contestEntry(let record): (.contestEntry, record.id, record.isOpen)
        }
    }
}

/// The contents of the journal: the newest record of each id.
struct JournalContents: Sendable {
    private struct ID: Hashable {
        let kind: JournalRecord.Kind
        let id: String
    }

    private var table = RecordTable<ID, JournalRecord>()
    /// The number of lines that were read or added.
    private(set) var lineCount = 0

    /// The maximum number of records that a rewritten journal keeps: of each kind those that have
    /// ended, and of the requests also those without an end. A request that can still be paid is
    /// among these, because only few can be open at a time.
    static let keptLimit = 200

    /// The records in the order of their first lines.
    var records: [JournalRecord] { table.values }

    mutating func add(_ record: JournalRecord) {
        lineCount += 1
        let (kind, id, _) = record.key
        table[ID(kind: kind, id: id)] = record
    }

    /// The records of a rewritten journal, in their order: the open ones, and the newest ended
    /// ones.
    var retainedRecords: [JournalRecord] {
        var counts: [JournalRecord.Kind: (open: Int, ended: Int)] = [:]
        let newestFirst = records.reversed().filter { record in
            let (kind, _, isOpen) = record.key
            var count = counts[kind] ?? (0, 0)
            if isOpen { count.open += 1 } else { count.ended += 1 }
            counts[kind] = count
            if isOpen { return kind != .request || count.open <= Self.keptLimit }
            return count.ended <= Self.keptLimit
        }
        return newestFirst.reversed()
    }
}
