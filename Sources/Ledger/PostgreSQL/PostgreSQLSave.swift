internal import GotchuCore
internal import Postgres

/// Writing the effects of a batch and committing them in one round trip: one statement for each
/// kind of row, however many there are.
struct PostgreSQLSave {
    let effects: Effects
    /// What was loaded, and locked, before: it tells changed rows from new ones.
    let loaded: Snapshot

    init(_ effects: Effects, loaded: Snapshot) {
        self.effects = effects
        self.loaded = loaded
    }

    /// Ends the transaction.
    func run(on connection: borrowing Connection) throws {
        try connection.run(
            users + wallets + sessions + openSessions + retiredEIDs + transfers + sends + refunds
                + events + probe + announcement + [.commit]
        )
    }

    private var users: [Query] {
        let users = effects.newUsers
        guard !users.isEmpty else { return [] }
        return [
            Query(
                """
                INSERT INTO users (\(Columns.user))
                SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
                """,
                [
                    .texts(users.map(\.id.rawValue)), .texts(users.map(\.email)),
                    .texts(users.map(\.displayName)),
                    .integers(users.map(\.createdAt.milliseconds)),
                ]
            )
        ]
    }

    private var wallets: [Query] {
        let new = effects.wallets.filter { loaded.wallets[$0.place] == nil }
        let changed = effects.wallets.filter { loaded.wallets[$0.place] != nil }
        var queries: [Query] = []
        if !new.isEmpty {
            queries.append(
                Query(
                    """
                    INSERT INTO wallets (\(Columns.wallet))
                    SELECT * FROM unnest(
                        $1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[]
                    )
                    """,
                    [
                        .texts(new.map(\.id.rawValue)), .texts(new.map(\.user?.rawValue)),
                        .texts(new.map(\.account?.rawValue)),
                        .texts(new.map(\.currency.rawValue)), .integers(new.map(\.balance)),
                        .integers(new.map(\.entryCount)),
                    ]
                )
            )
        }
        if !changed.isEmpty {
            queries.append(
                Query(
                    """
                    UPDATE wallets SET balance = new.balance, entry_count = new.entry_count
                    FROM unnest($1::text[], $2::bigint[], $3::bigint[])
                        AS new (id, balance, entry_count)
                    WHERE wallets.id = new.id
                    """,
                    [
                        .texts(changed.map(\.id.rawValue)), .integers(changed.map(\.balance)),
                        .integers(changed.map(\.entryCount)),
                    ]
                )
            )
        }
        return queries
    }

    private var sessions: [Query] {
        let new = effects.sessions.filter { loaded.sessions[$0.id] == nil }
        let changed = effects.sessions.filter { loaded.sessions[$0.id] != nil }
        return (new.isEmpty ? [] : [insertion(of: new)])
            + (changed.isEmpty ? [] : [change(of: changed)])
    }

    private func insertion(of sessions: [Session]) -> Query {
        Query(
            """
            INSERT INTO sessions (
                id, eid, payee_id, amount, currency, memo, reference, created_at, expires_at,
                status, payer_id, lock_expires_at, paid_at, version, rotations, refunded
            ) SELECT * FROM unnest(
                $1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[],
                $7::text[], $8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::bigint[],
                $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[]
            )
            """,
            [
                .texts(sessions.map(\.id.rawValue)), .texts(sessions.map(\.eid.description)),
                .texts(sessions.map(\.payee.rawValue)),
                .integers(sessions.map(\.amount.minorUnits)),
                .texts(sessions.map(\.amount.currency.rawValue)), .texts(sessions.map(\.memo)),
                .texts(sessions.map(\.reference)),
                .integers(sessions.map(\.createdAt.milliseconds)),
                .integers(sessions.map(\.expiresAt.milliseconds)),
            ] + states(of: sessions)
        )
    }

    private func change(of sessions: [Session]) -> Query {
        Query(
            """
            UPDATE sessions SET status = new.status, payer_id = new.payer_id,
                lock_expires_at = new.lock_expires_at, paid_at = new.paid_at,
                version = new.version, rotations = new.rotations, refunded = new.refunded,
                eid = new.eid
            FROM unnest(
                $1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[],
                $7::bigint[], $8::bigint[], $9::bigint[]
            ) AS new (
                id, eid, status, payer_id, lock_expires_at, paid_at, version, rotations, refunded
            ) WHERE sessions.id = new.id
            """,
            [.texts(sessions.map(\.id.rawValue)), .texts(sessions.map(\.eid.description))]
                + states(of: sessions)
        )
    }

    /// Status, payer, end of the lock, time of payment, version, rotations, refunded.
    private func states(of sessions: [Session]) -> [Value] {
        [
            .texts(sessions.map(\.status.rawValue)), .texts(sessions.map(\.payer?.rawValue)),
            .integers(sessions.map(\.lockExpiresAt?.milliseconds)),
            .integers(sessions.map(\.paidAt?.milliseconds)), .integers(sessions.map(\.version)),
            .integers(sessions.map(\.rotations)), .integers(sessions.map(\.refunded)),
        ]
    }

    private var retiredEIDs: [Query] {
        let retired = effects.newRetiredEIDs
        guard !retired.isEmpty else { return [] }
        return [
            Query(
                """
                INSERT INTO retired_eids (\(Columns.retiredEID))
                SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
                """,
                [
                    .texts(retired.map(\.eid.description)),
                    .texts(retired.map(\.session.rawValue)),
                    .integers(retired.map(\.resolvesUntil.milliseconds)),
                ]
            )
        ]
    }

    private var transfers: [Query] {
        let transfers = effects.newTransfers
        guard !transfers.isEmpty else { return [] }
        let lines = transfers.flatMap { transfer in transfer.lines.map { (transfer.id, $0) } }
        return [
            Query(
                """
                INSERT INTO transfers (
                    id, kind, amount, currency, created_at, session_id, user_id, idempotency_key
                ) SELECT * FROM unnest(
                    $1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::text[],
                    $7::text[], $8::text[]
                )
                """,
                [
                    .texts(transfers.map(\.id.rawValue)), .texts(transfers.map(\.kind.rawValue)),
                    .integers(transfers.map(\.amount.minorUnits)),
                    .texts(transfers.map(\.amount.currency.rawValue)),
                    .integers(transfers.map(\.createdAt.milliseconds)),
                    .texts(transfers.map(\.order?.session.rawValue)),
                    .texts(transfers.map(\.order?.key.user.rawValue)),
                    .texts(transfers.map(\.order?.key.key.rawValue)),
                ]
            ),
            Query(
                """
                INSERT INTO entries (wallet_id, number, transfer_id, amount)
                SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[])
                """,
                [
                    .texts(lines.map(\.1.wallet.rawValue)), .integers(lines.map(\.1.number)),
                    .texts(lines.map(\.0.rawValue)), .integers(lines.map(\.1.amount)),
                ]
            ),
        ]
    }

    private var probe: [Query] {
        guard let time = effects.probedAt else { return [] }
        return [
            Query(
                """
                INSERT INTO probe (id, written_at) VALUES (1, $1)
                ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at
                """,
                [.integer(time.milliseconds)]
            )
        ]
    }
}
