internal import GotchuCore
internal import Ledger
internal import Postgres

/// Notifies the other servers of a database of changed records and accounts (`NOTIFY`).
enum PostgreSQLNotice {
    static let channel = "gotchu_records"
    /// The maximum number of ids in one notification. A notification has at most 8,000 bytes. An id
    /// has at most 64, and an account's currency and prefix add four.
    static let idsPerNotice = 110
    /// The prefix of the id of a noticed record, and the prefix of an account's currency and owner.
    /// Other versions of the program treat it as part of an id that nobody watches.
    private static let noticed = UInt8(ascii: "!")
    private static let account = UInt8(ascii: "$")
    private static let currencyLength = 3

    /// Returns the query that sends ids of changed records and accounts; `nil` if there are none.
    /// Many ids are sent in one notification, because each one costs every listening server.
    static func query(of records: [RecordID], _ accounts: [Account.Key]) -> Query? {
        let ids =
            records.map(\.rawValue)
            + accounts.map { "$\($0.currency.rawValue)\($0.owner.rawValue)" }
        guard !ids.isEmpty else { return nil }
        let notices = stride(from: 0, to: ids.count, by: idsPerNotice).map { start in
            ids[start..<min(start + idsPerNotice, ids.count)].joined(separator: ",")
        }
        return Query(
            "SELECT pg_notify('\(channel)', ids) FROM unnest($1::text[]) AS notices (ids)",
            [.texts(notices)]
        )
    }

    static func query(noticing record: RecordID) -> Query {
        Query("SELECT pg_notify('\(channel)', $1)", [.text("!\(record.rawValue)")])
    }

    /// Returns the records and accounts that a notification contains.
    static func changes(in payload: String) -> Changes {
        var changes = Changes()
        // Split by bytes: splitting by characters would examine combining marks.
        for id in payload.utf8.split(separator: UInt8(ascii: ",")) {
            switch id.first {
            case noticed:
                changes.noticed.insert(RecordID(trusted: String(Substring(id.dropFirst()))))
            case account:
                let text = id.dropFirst()
                let currency = String(Substring(text.prefix(currencyLength)))
                let owner = String(Substring(text.dropFirst(currencyLength)))
                guard let currency = Currency(rawValue: currency) else { continue }
                changes.accounts.insert(
                    Account.Key(Account.Owner(rawValue: owner), currency)
                )
            default: changes.records.insert(RecordID(trusted: String(Substring(id))))
            }
        }
        return changes
    }
}
