/// What the books themselves say was done, and in which order: each wallet's entries are numbered.
struct BookedHistory {
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

    /// Transfers by user, as his entries are numbered.
    var entries: [Int: [String]] = [:]
    /// The transfer that an order was answered with.
    var transfers: [Order: String] = [:]
    /// By their names.
    var sessions: [String: Session] = [:]
    var balances: [Int: Int64] = [:]

    init() {}

    /// - Parameter users: The users' addresses, by their numbers.
    init(_ books: CheckedBooks, users: [String]) throws {
        let numbers = Dictionary(uniqueKeysWithValues: users.enumerated().map { ($1, $0) })
        for row in try books.rows(
            2,
            """
            SELECT email, transfer_id FROM entries JOIN wallets ON wallets.id = wallet_id
            JOIN users ON users.id = wallets.user_id JOIN transfers ON transfers.id = transfer_id
            WHERE kind IN ('PAYMENT', 'REFUND') ORDER BY wallet_id, number
            """
        ) { entries[numbers[row[0]] ?? -1, default: []].append(row[1]) }
        for (table, isRefund) in [("sends", false), ("refunds", true)] {
            for row in try books.rows(
                3,
                """
                SELECT email, idempotency_key, transfer_id FROM \(table)
                JOIN users ON users.id = user_id WHERE transfer_id IS NOT NULL
                """
            ) {
                let key = Int(row[1].dropFirst(Self.keyPrefix.count)) ?? -1
                let order = Order(user: numbers[row[0]] ?? -1, key: key, isRefund: isRefund)
                transfers[order] = row[2]
            }
        }
        for row in try books.rows(
            4,
            """
            SELECT sessions.id, status, coalesce(email, ''), CAST(refunded AS text)
            FROM sessions LEFT JOIN users ON users.id = payer_id
            """
        ) {
            sessions[row[0]] = Session(
                status: row[1],
                payer: numbers[row[2]],
                refunded: Int64(row[3]) ?? -1
            )
        }
        for row in try books.rows(
            2,
            """
            SELECT email, CAST(balance AS text) FROM wallets JOIN users ON users.id = user_id
            """
        ) { balances[numbers[row[0]] ?? -1] = Int64(row[1]) }
    }
}
