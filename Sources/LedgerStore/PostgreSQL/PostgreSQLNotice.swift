internal import GotchuCore
internal import Ledger
internal import Postgres

/// Notifies the other servers of a database of changed records (`NOTIFY`).
enum PostgreSQLNotice {
    static let channel = "gotchu_records"
    /// A notification may have 8,000 bytes, and a record's id has at most 64.
    static let idsTogether = 120

    /// Puts many ids into one notification: each notification costs every listening server.
    static func query(of records: [RecordID]) -> Query? {
        guard !records.isEmpty else { return nil }
        let ids = records.map(\.rawValue)
        let notices = stride(from: 0, to: ids.count, by: idsTogether).map { start in
            ids[start..<min(start + idsTogether, ids.count)].joined(separator: ",")
        }
        return Query(
            "SELECT pg_notify('\(channel)', ids) FROM unnest($1::text[]) AS notices (ids)",
            [.texts(notices)]
        )
    }

    /// The records that a notification names.
    static func records(in payload: String) -> [RecordID] {
        // Split by bytes: splitting by characters would examine combining marks.
        payload.utf8.split(separator: UInt8(ascii: ",")).compactMap {
            String(Substring($0)).isEmpty ? nil : RecordID(trusted: String(Substring($0)))
        }
    }
}
