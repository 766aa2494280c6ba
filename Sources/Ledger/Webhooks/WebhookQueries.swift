/// The outbox's statements, in SQL that both stores understand alike.
///
/// Parameters are written `$1`, `$2` … and appear in that order for the first time: so they are
/// PostgreSQL's by number and SQLite's by name.
enum WebhookQueries {
    /// How long an event is tried, from the first try on: one that has waited for days, because no
    /// server ran, is not given up at once.
    static let patienceMilliseconds = 24 * 3_600 * 1_000

    /// One event for each endpoint that wants it: name, kind, session, time, refund, refunded,
    /// payee.
    static let enqueue = """
        INSERT INTO webhook_deliveries (
            event_id, kind, session_id, happened_at, refund, refunded, endpoint_id, attempts,
            next_try_at, give_up_at
        )
        SELECT CAST($1 AS text), CAST($2 AS text), CAST($3 AS text), CAST($4 AS bigint),
            CAST($5 AS bigint), CAST($6 AS bigint), id, 0, CAST($4 AS bigint),
            CAST($4 AS bigint) + \(patienceMilliseconds)
        FROM webhook_endpoints
        WHERE disabled IS NULL AND (payee_id IS NULL OR payee_id = $7)
        """

    static let add = """
        INSERT INTO webhook_endpoints (id, url, payee_id, created_at, secret)
        VALUES ($1, $2, $3, $4, $5)
        """

    static let endpointCount = "SELECT count(*) FROM webhook_endpoints"

    static let endpoints = """
        SELECT id, url, payee_id, created_at, disabled,
            (SELECT count(*) FROM webhook_deliveries
                WHERE endpoint_id = id AND dead_at IS NULL),
            (SELECT count(*) FROM webhook_deliveries
                WHERE endpoint_id = id AND dead_at IS NOT NULL)
        FROM webhook_endpoints ORDER BY created_at, id
        """

    static let removeDeliveries = "DELETE FROM webhook_deliveries WHERE endpoint_id = $1"
    static let removeEndpoint = "DELETE FROM webhook_endpoints WHERE id = $1"

    /// Each endpoint is looked up in the index of what is due: a long backlog costs no more.
    static let due = """
        SELECT id FROM webhook_endpoints WHERE disabled IS NULL AND EXISTS (
            SELECT 1 FROM webhook_deliveries
            WHERE endpoint_id = id AND dead_at IS NULL AND next_try_at <= $1
        ) ORDER BY id
        """

    /// Time, lease's end, endpoint, limit.
    static let claim = """
        UPDATE webhook_deliveries SET attempts = attempts + 1,
            give_up_at = CASE WHEN attempts > 0 THEN give_up_at
                ELSE CAST($1 AS bigint) + \(patienceMilliseconds) END,
            next_try_at = CAST($2 AS bigint)
        WHERE endpoint_id = $3 AND dead_at IS NULL AND next_try_at <= $1 AND event_id IN (
            SELECT event_id FROM webhook_deliveries
            WHERE endpoint_id = $3 AND dead_at IS NULL AND next_try_at <= $1
            ORDER BY next_try_at LIMIT $4
        ) RETURNING event_id
        """

    /// Endpoint and event.
    static let delivery = """
        SELECT \(Columns.session), attempts, kind, happened_at, told_refund, told_refunded,
            give_up_at, url, secret
        FROM sessions JOIN (
            SELECT session_id AS told, attempts, kind, happened_at, refund AS told_refund,
                refunded AS told_refunded, give_up_at, url, secret
            FROM webhook_deliveries
            JOIN webhook_endpoints ON webhook_endpoints.id = endpoint_id
            WHERE endpoint_id = $1 AND event_id = $2
        ) AS delivery ON sessions.id = told
        """

    /// Endpoint, event, attempt.
    static let delivered = """
        DELETE FROM webhook_deliveries
        WHERE endpoint_id = $1 AND event_id = $2 AND attempts = $3
        """

    /// Next try, error, time of death, endpoint, event, attempt.
    static let failed = """
        UPDATE webhook_deliveries SET next_try_at = $1, last_error = $2, dead_at = $3
        WHERE endpoint_id = $4 AND event_id = $5 AND attempts = $6
        """

    /// Why, endpoint.
    static let disable = "UPDATE webhook_endpoints SET disabled = $1 WHERE id = $2"

    /// Error, time, endpoint.
    static let bury = """
        UPDATE webhook_deliveries SET last_error = $1, dead_at = $2
        WHERE endpoint_id = $3 AND dead_at IS NULL
        """

    static func backlog(dead: Bool) -> String {
        """
        SELECT endpoint_id, event_id, kind, session_id, attempts, next_try_at, last_error
        FROM webhook_deliveries WHERE dead_at IS \(dead ? "NOT " : "")NULL
        ORDER BY happened_at, endpoint_id, event_id LIMIT $1
        """
    }

    /// Event, or NULL for every one.
    static let revive = """
        UPDATE webhook_endpoints SET disabled = NULL
        WHERE id IN (
            SELECT endpoint_id FROM webhook_deliveries
            WHERE dead_at IS NOT NULL AND event_id = coalesce($1, event_id)
        )
        """

    /// Time, event or NULL.
    static let resend = """
        UPDATE webhook_deliveries SET dead_at = NULL, next_try_at = CAST($1 AS bigint),
            give_up_at = CAST($1 AS bigint) + \(patienceMilliseconds)
        WHERE dead_at IS NOT NULL AND event_id = coalesce($2, event_id)
        """
}
