internal import GotchuCore
internal import Postgres

/// Loading a footprint in one round trip, however many commands wait.
///
/// First the rows that may change are locked: sessions, then wallets of users, then the house's
/// own, each in the order of their names, so that two servers never wait for each other in a
/// circle. What is read after that, statement by statement, is as those left it who held the locks
/// before.
struct PostgreSQLLoad {
    private let footprint: Footprint
    private let isPassingHeld: Bool

    /// - Parameter isPassingHeld: Whether rows that another transaction holds are passed over, and
    ///   named in the snapshot, instead of waited for.
    init(_ footprint: Footprint, isPassingHeld: Bool = false) {
        self.footprint = footprint
        self.isPassingHeld = isPassingHeld
    }

    private var lock: String { isPassingHeld ? "FOR UPDATE SKIP LOCKED" : "FOR UPDATE" }

    /// Begins a transaction and loads.
    ///
    /// - Throws: `LedgerError` with `foreign` if a newer program has changed the tables: it keeps
    ///   more in them than this one would write.
    func run(on connection: borrowing Connection) throws -> Snapshot {
        let rows = Loaded()
        let end = Result {
            try connection.run(
                [.begin, version(into: rows)] + sessions(into: rows) + wallets(into: rows)
                    + users(into: rows) + sends(into: rows) + refunds(into: rows)
                    + eids(into: rows) + liveSessions(into: rows)
            )
        }
        // What fails on newer tables may fail because of what is new in them.
        guard rows.version <= PostgreSQLSchema.newestVersion else { throw LedgerError.outdated }
        try end.get()
        return rows.snapshot
    }

    /// What several readers of one exchange fill.
    private final class Loaded {
        var snapshot = Snapshot()
        var version: Int64 = 0
    }

    /// Before anything else. A migration locks the table that this reads: one that is under way is
    /// waited for, and the next waits for the end of this transaction.
    private func version(into rows: Loaded) -> Query {
        Query(PostgreSQLSchema.version) { rows.version = try $0.integer(0) }
    }

    private func sessions(into rows: Loaded) -> [Query] {
        guard !footprint.sessions.isEmpty else { return [] }
        let sql = "SELECT \(Columns.session) FROM sessions WHERE id = ANY ($1::text[])"
        let ids: [Value] = [.texts(footprint.sessions.map(\.rawValue))]
        let locked = Query("\(sql) ORDER BY id \(lock)", ids) { row in
            let session = try row.session()
            rows.snapshot.sessions[session.id] = session
        }
        guard isPassingHeld else { return [locked] }
        let all = Query(sql, ids) { row in
            let id = try row.session().id
            if rows.snapshot.sessions[id] == nil { rows.snapshot.held.sessions.insert(id) }
        }
        return [locked, all]
    }

    private func wallets(into rows: Loaded) -> [Query] {
        var users: [String] = []
        var accounts: [String] = []
        for owner in footprint.walletOwners {
            switch owner {
            case .user(let id): users.append(id.rawValue)
            case .system(let account): accounts.append(account.rawValue)
            }
        }
        let paid = footprint.paidSessions.map(\.rawValue)
        var queries: [Query] = []
        if !users.isEmpty || !paid.isEmpty {
            // No join and no IN (SELECT …): of a statement with those PostgreSQL may leave out a
            // row that it has waited for (EvalPlanQual), and a wallet would seem not to be there.
            let sql = """
                SELECT \(Columns.wallet) FROM wallets WHERE user_id = ANY (
                    $1::text[] || ARRAY(
                        SELECT unnest(ARRAY[payee_id, payer_id]) FROM sessions
                        WHERE sessions.id = ANY ($2::text[])
                    )
                )
                """
            queries += wallets(sql, [.texts(users), .texts(paid)], into: rows)
        }
        if !accounts.isEmpty {
            let sql = """
                SELECT \(Columns.wallet) FROM wallets WHERE system_account = ANY ($1::text[])
                """
            queries += wallets(sql, [.texts(accounts)], into: rows)
        }
        return queries
    }

    private func wallets(_ sql: String, _ values: [Value], into rows: Loaded) -> [Query] {
        let locked = Query("\(sql) ORDER BY id \(lock)", values) { row in
            let wallet = try row.wallet()
            rows.snapshot.wallets[wallet.place] = wallet
        }
        guard isPassingHeld else { return [locked] }
        let all = Query(sql, values) { row in
            let place = try row.wallet().place
            if rows.snapshot.wallets[place] == nil {
                rows.snapshot.held.walletOwners.insert(place.owner)
            }
        }
        return [locked, all]
    }

    private func users(into rows: Loaded) -> [Query] {
        var queries: [Query] = []
        if !footprint.users.isEmpty {
            queries.append(
                Query(
                    "SELECT \(Columns.user) FROM users WHERE id = ANY ($1::text[])",
                    [.texts(footprint.users.map(\.rawValue))]
                ) { rows.snapshot.insert(try $0.user()) }
            )
        }
        if !footprint.emails.isEmpty {
            queries.append(
                Query(
                    "SELECT \(Columns.user) FROM users WHERE email = ANY ($1::text[])",
                    [.texts(Array(footprint.emails))]
                ) { rows.snapshot.insert(try $0.user()) }
            )
        }
        return queries
    }

    /// Key by key, which LIMIT makes sure of: a plan for a join that was made while there were few
    /// rows, and kept, may compare each key with all of them.
    private func sends(into rows: Loaded) -> [Query] {
        guard !footprint.sendKeys.isEmpty else { return [] }
        let keys = Array(footprint.sendKeys)
        return [
            Query(
                """
                SELECT found.* FROM unnest($1::text[], $2::text[]) AS wanted (owner, key)
                CROSS JOIN LATERAL (
                    SELECT \(Columns.send) FROM sends
                    WHERE user_id = wanted.owner AND idempotency_key = wanted.key LIMIT 1
                ) AS found
                """,
                [.texts(keys.map(\.user.rawValue)), .texts(keys.map(\.key.rawValue))]
            ) { row in
                let send = try row.send()
                rows.snapshot.sends[send.key] = send
            }
        ]
    }

    private func refunds(into rows: Loaded) -> [Query] {
        guard !footprint.refundKeys.isEmpty else { return [] }
        let keys = Array(footprint.refundKeys)
        return [
            Query(
                """
                SELECT found.* FROM unnest($1::text[], $2::text[]) AS wanted (owner, key)
                CROSS JOIN LATERAL (
                    SELECT \(Columns.refund) FROM refunds
                    WHERE user_id = wanted.owner AND idempotency_key = wanted.key LIMIT 1
                ) AS found
                """,
                [.texts(keys.map(\.user.rawValue)), .texts(keys.map(\.key.rawValue))]
            ) { row in
                let refund = try row.refund()
                rows.snapshot.refunds[refund.key] = refund
            }
        ]
    }

    private func eids(into rows: Loaded) -> [Query] {
        var queries: [Query] = []
        if !footprint.eids.isEmpty {
            let sql = """
                SELECT eid FROM sessions WHERE eid = ANY ($1::text[])
                UNION ALL
                SELECT eid FROM retired_eids WHERE eid = ANY ($1::text[])
                """
            queries.append(
                Query(sql, [.texts(footprint.eids.map(\.description))]) { row in
                    if let eid = EID(try row.text(0)) { rows.snapshot.takenEIDs.insert(eid) }
                }
            )
        }
        if !footprint.retiredEIDs.isEmpty {
            let sql = "SELECT \(Columns.retiredEID) FROM retired_eids WHERE eid = ANY ($1::text[])"
            queries.append(
                Query(sql, [.texts(footprint.retiredEIDs.map(\.description))]) { row in
                    let retired = try row.retiredEID()
                    rows.snapshot.retiredEIDs[retired.eid] = retired
                }
            )
        }
        return queries
    }

    private func liveSessions(into rows: Loaded) -> [Query] {
        guard !footprint.livePayees.isEmpty else { return [] }
        return [
            Query(
                """
                SELECT payee, (
                    SELECT count(*) FROM open_sessions WHERE payee_id = payee
                ) FROM unnest($1::text[]) AS wanted (payee)
                """,
                [.texts(footprint.livePayees.map(\.rawValue))]
            ) { row in
                let payee = UserID(trusted: try row.text(0))
                rows.snapshot.liveSessions[payee] = Int(try row.integer(1))
            }
        ]
    }
}
