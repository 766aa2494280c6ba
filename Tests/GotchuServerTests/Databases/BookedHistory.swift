import Ledger
import Payments

/// The history that the database holds. The number of an entry is its position in its wallet.
struct BookedHistory {
    /// A user's idempotency key. Refunds and other calls have separate keys.
    struct Order: Hashable {
        let user: Int
        let key: Int
        let isRefund: Bool
    }

    struct Session {
        let status: String
        let payer: Int?
        let refunded: Int64
    }

    static let keyPrefix = "0123456789abcdef-"

    /// The transfer of each entry of a user's wallet, in the order of the entries' numbers.
    var entries: [Int: [String]] = [:]
    /// The transfer in the answer that is stored for a user's key.
    var transfers: [Order: String] = [:]
    /// The sessions, bills and contests by record id.
    var sessions: [String: Session] = [:]
    var balances: [Int: Int64] = [:]

    init() {}

    /// - Parameter users: The users' logins; the index of a login is the user's number.
    init(_ database: CheckedDatabase, users: [String]) throws {
        let numbers = Dictionary(uniqueKeysWithValues: users.enumerated().map { ($1, $0) })
        for row in try database.rows(
            3,
            """
            SELECT login, record, step FROM entries JOIN users ON users.id = entries.owner
            WHERE kind <> 'OPENING' ORDER BY owner, number
            """
        ) { entries[numbers[row[0]] ?? -1, default: []].append(Self.transfer(row[1], row[2])) }
        for row in try database.rows(
            5,
            """
            SELECT login, key, command, record, step FROM answers
            JOIN users ON users.id = user_id WHERE step IS NOT NULL
            """
        ) {
            let key = Int(row[1].dropFirst(Self.keyPrefix.count)) ?? -1
            let isRefund = row[2] == "refund"
            let order = Order(user: numbers[row[0]] ?? -1, key: key, isRefund: isRefund)
            transfers[order] = Self.transfer(row[3], row[4])
        }
        let logins = try database.rows(2, "SELECT id, login FROM users").map { ($0[0], $0[1]) }
        let names = Dictionary(uniqueKeysWithValues: logins)
        for row in try database.rows(3, "SELECT id, state, kind FROM records") {
            if row[2] != "session" {
                sessions[row[0]] = Session(status: row[1], payer: nil, refunded: 0)
            }
        }
        for row in try database.rows(
            3,
            "SELECT id, state, body FROM records WHERE kind = 'session'"
        ) {
            let body = try Payments.Session.Body(row[2])
            sessions[row[0]] = Session(
                status: row[1],
                payer: body.payer.flatMap { names[$0.rawValue] }.flatMap { numbers[$0] },
                refunded: body.refunded
            )
        }
        for row in try database.rows(
            2,
            """
            SELECT login, CAST(balance AS text) FROM accounts JOIN users ON users.id = owner
            """
        ) { balances[numbers[row[0]] ?? -1] = Int64(row[1]) }
    }

    /// Returns the transfer's id as the API shows it.
    static func transfer(_ record: String, _ step: String) -> String {
        Transfer.Key(RecordID(trusted: record), step).id
    }
}
