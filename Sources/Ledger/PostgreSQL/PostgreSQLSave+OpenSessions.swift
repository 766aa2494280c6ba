internal import GotchuCore
internal import Postgres

/// Keeping count of the sessions that are not over. Whoever changes one holds its lock, or has only
/// just made it.
extension PostgreSQLSave {
    var openSessions: [Query] {
        let due = effects.sessions.filter { session in
            session.dueAt.map { $0 != loaded.sessions[session.id]?.dueAt } ?? false
        }
        // Also those that were over before: a row that stayed would be due for ever.
        let touched = effects.sessions.reduce(into: loaded.sessions) { $0[$1.id] = $1 }
        let over = touched.values.filter { $0.dueAt == nil }
        return (due.isEmpty ? [] : [opening(of: due)]) + (over.isEmpty ? [] : [closing(of: over)])
    }

    private func opening(of sessions: [Session]) -> Query {
        Query(
            """
            INSERT INTO open_sessions (payee_id, session_id, due_at)
            SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
            ON CONFLICT (payee_id, session_id) DO UPDATE SET due_at = excluded.due_at
            """,
            [
                .texts(sessions.map(\.payee.rawValue)), .texts(sessions.map(\.id.rawValue)),
                .integers(sessions.map(\.dueAt?.milliseconds)),
            ]
        )
    }

    /// Row by row, which LIMIT makes sure of: the table is empty every night, and a plan for a join
    /// that was made then, and kept, compares each session with all of them by day. Where a row is
    /// does not change meanwhile: only who holds its session's lock writes it.
    private func closing(of sessions: [Session]) -> Query {
        Query(
            """
            DELETE FROM open_sessions WHERE ctid = ANY (ARRAY(
                SELECT found.ctid FROM unnest($1::text[], $2::text[]) AS ended (payee, session)
                CROSS JOIN LATERAL (
                    SELECT ctid FROM open_sessions
                    WHERE payee_id = ended.payee AND session_id = ended.session LIMIT 1
                ) AS found
            ))
            """,
            [.texts(sessions.map(\.payee.rawValue)), .texts(sessions.map(\.id.rawValue))]
        )
    }
}

extension Session {
    /// When time will change it next; `nil` once it is over.
    fileprivate var dueAt: Timestamp? { status.isFinal ? nil : lockExpiresAt ?? expiresAt }
}
