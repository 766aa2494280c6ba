internal import GotchuCore
internal import SQLite

/// Loading a footprint: a handful of set statements, however many commands wait.
extension Connection {
    borrowing func load(_ footprint: Footprint) throws -> Snapshot {
        var rows = Snapshot()
        try loadSessions(footprint, into: &rows)
        try loadUsers(footprint, into: &rows)
        try loadWallets(footprint, into: &rows)
        try loadSends(footprint, into: &rows)
        return rows
    }

    private borrowing func loadSessions(
        _ footprint: Footprint,
        into rows: inout Snapshot
    ) throws {
        if !footprint.sessions.isEmpty {
            let sessions = try query(
                """
                SELECT \(Columns.session) FROM sessions
                WHERE id IN (SELECT value FROM json_each(?1))
                """,
                [.list(footprint.sessions.map(\.rawValue))],
                read: { try $0.session() }
            )
            for session in sessions { rows.sessions[session.id] = session }
        }
        try loadEIDs(footprint, into: &rows)
        guard !footprint.livePayees.isEmpty else { return }
        let counts = try query(
            """
            SELECT value, (
                SELECT count(*) FROM sessions WHERE payee_id = value
                AND \(Schema.isLive)
            ) FROM json_each(?1)
            """,
            [.list(footprint.livePayees.map(\.rawValue))],
            read: { (UserID(trusted: try $0.text(0)), Int(try $0.integer(1))) }
        )
        for (payee, count) in counts { rows.liveSessions[payee] = count }
    }

    private borrowing func loadEIDs(_ footprint: Footprint, into rows: inout Snapshot) throws {
        if !footprint.eids.isEmpty {
            let taken = try query(
                """
                SELECT eid FROM sessions WHERE eid IN (SELECT value FROM json_each(?1))
                UNION ALL
                SELECT eid FROM retired_eids WHERE eid IN (SELECT value FROM json_each(?1))
                """,
                [.list(footprint.eids.map(\.description))],
                read: { EID(try $0.text(0)) }
            )
            rows.takenEIDs = Set(taken.compactMap(\.self))
        }
        guard !footprint.retiredEIDs.isEmpty else { return }
        let retired = try query(
            """
            SELECT \(Columns.retiredEID) FROM retired_eids
            WHERE eid IN (SELECT value FROM json_each(?1))
            """,
            [.list(footprint.retiredEIDs.map(\.description))],
            read: { try $0.retiredEID() }
        )
        for eid in retired { rows.retiredEIDs[eid.eid] = eid }
    }

    private borrowing func loadUsers(_ footprint: Footprint, into rows: inout Snapshot) throws {
        if !footprint.users.isEmpty {
            let users = try query(
                """
                SELECT \(Columns.user) FROM users
                WHERE id IN (SELECT value FROM json_each(?1))
                """,
                [.list(footprint.users.map(\.rawValue))],
                read: { try $0.user() }
            )
            for user in users { rows.insert(user) }
        }
        guard !footprint.emails.isEmpty else { return }
        let users = try query(
            """
            SELECT \(Columns.user) FROM users
            WHERE email IN (SELECT value FROM json_each(?1))
            """,
            [.list(Array(footprint.emails))],
            read: { try $0.user() }
        )
        for user in users { rows.insert(user) }
    }

    private borrowing func loadWallets(_ footprint: Footprint, into rows: inout Snapshot) throws {
        var users: Set<String> = []
        var accounts: Set<String> = []
        for owner in footprint.walletOwners {
            switch owner {
            case .user(let id): users.insert(id.rawValue)
            case .system(let account): accounts.insert(account.rawValue)
            }
        }
        for session in footprint.paidSessions {
            guard let session = rows.sessions[session] else { continue }
            users.insert(session.payee.rawValue)
            if let payer = session.payer { users.insert(payer.rawValue) }
        }
        var wallets: [Wallet] = []
        if !users.isEmpty {
            wallets += try query(
                """
                SELECT \(Columns.wallet) FROM wallets
                WHERE user_id IN (SELECT value FROM json_each(?1))
                """,
                [.list(Array(users))],
                read: { try $0.wallet() }
            )
        }
        if !accounts.isEmpty {
            wallets += try query(
                """
                SELECT \(Columns.wallet) FROM wallets
                WHERE system_account IN (SELECT value FROM json_each(?1))
                """,
                [.list(Array(accounts))],
                read: { try $0.wallet() }
            )
        }
        for wallet in wallets { rows.wallets[wallet.place] = wallet }
    }

    private borrowing func loadSends(_ footprint: Footprint, into rows: inout Snapshot) throws {
        for key in footprint.sendKeys {
            rows.sends[key] = try send(key)
        }
        for key in footprint.refundKeys {
            rows.refunds[key] = try query(
                """
                SELECT \(Columns.refund) FROM refunds
                WHERE user_id = ?1 AND idempotency_key = ?2
                """,
                [.text(key.user.rawValue), .text(key.key.rawValue)],
                read: { try $0.refund() }
            ).first
        }
    }

    /// What was answered to one key.
    borrowing func send(_ key: SendKey) throws -> RememberedSend? {
        try query(
            "SELECT \(Columns.send) FROM sends WHERE user_id = ?1 AND idempotency_key = ?2",
            [.text(key.user.rawValue), .text(key.key.rawValue)],
            read: { try $0.send() }
        ).first
    }
}

extension Value {
    /// A set of texts for `json_each`, so that one constant statement serves any number of them.
    ///
    /// Whatever JSON would not take as it is gets escaped (RFC 8259, 7).
    static func list(_ texts: [String]) -> Value {
        var json = "["
        for text in texts {
            json += json.utf8.count == 1 ? "\"" : ",\""
            for scalar in text.unicodeScalars {
                switch scalar {
                case "\"": json += "\\\""
                case "\\": json += "\\\\"
                case "\u{0}"..."\u{1F}":
                    json += "\\u00" + (scalar.value < 16 ? "0" : "")
                    json += String(scalar.value, radix: 16)
                default: json.unicodeScalars.append(scalar)
                }
            }
            json += "\""
        }
        return .text(json + "]")
    }
}
