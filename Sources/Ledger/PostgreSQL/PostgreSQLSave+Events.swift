internal import GotchuCore
internal import Postgres

/// Telling others: merchants by the outbox, the other servers at once.
extension PostgreSQLSave {
    /// Where changed sessions are announced to the other servers.
    static let channel = "gotchu_sessions"
    /// A notification may have 8,000 bytes, and a session's name has at most 64.
    static let announcedTogether = 120

    /// One delivery for each event and each endpoint that wants it; nothing is written where nobody
    /// wants to be told.
    var events: [Query] {
        let events = effects.newEvents
        guard !events.isEmpty else { return [] }
        return [
            Query(
                """
                INSERT INTO webhook_deliveries (
                    event_id, kind, session_id, happened_at, refund, refunded, endpoint_id,
                    attempts, next_try_at, give_up_at
                )
                SELECT event.id, event.kind, event.session_id, event.at, event.refund,
                    event.refunded, webhook_endpoints.id, 0, event.at,
                    event.at + \(WebhookQueries.patienceMilliseconds)
                FROM webhook_endpoints, unnest(
                    $1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[],
                    $7::text[]
                ) AS event (id, kind, session_id, at, refund, refunded, payee_id)
                WHERE disabled IS NULL AND (
                    webhook_endpoints.payee_id IS NULL
                    OR webhook_endpoints.payee_id = event.payee_id
                )
                """,
                [
                    .texts(events.map(\.id)), .texts(events.map(\.kind.rawValue)),
                    .texts(events.map(\.session.id.rawValue)),
                    .integers(events.map(\.at.milliseconds)), .integers(events.map(\.refund)),
                    .integers(events.map(\.session.refunded)),
                    .texts(events.map(\.session.payee.rawValue)),
                ]
            )
        ]
    }

    /// Many names in one notification: each costs every listening server. Nobody can watch a
    /// session that has only just been made.
    var announcement: [Query] {
        let changed = effects.sessions.lazy.map(\.id).filter { loaded.sessions[$0] != nil }
            .map(\.rawValue)
        guard !changed.isEmpty else { return [] }
        let names = Array(changed)
        let news = stride(from: 0, to: names.count, by: Self.announcedTogether).map { start in
            names[start..<min(start + Self.announcedTogether, names.count)].joined(separator: ",")
        }
        return [
            Query(
                "SELECT pg_notify('\(Self.channel)', names) FROM unnest($1::text[]) AS n (names)",
                [.texts(news)]
            )
        ]
    }

    /// The sessions that a notification names.
    static func announced(in payload: String) -> [SessionID] {
        // Not by characters: they would be looked for among accents and the like.
        payload.utf8.split(separator: UInt8(ascii: ",")).compactMap {
            SessionID(rawValue: String(Substring($0)))
        }
    }
}
