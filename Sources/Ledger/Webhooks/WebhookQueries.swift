/// The outbox's statements, in SQL that both stores understand alike.
///
/// Parameters are written `$1`, `$2` … and appear in that order for the first time: so they are
/// PostgreSQL's by number and SQLite's by name.
enum WebhookQueries {
    /// The way in which a statement that works on a slice says which rows those are.
    enum Dialect {
        case sqlite
        case postgresql

        /// Is one of those that `subquery` finds. SQLite looks each up by its key; PostgreSQL might
        /// join the two in a way that is good for a few rows, and keep that plan for a million.
        fileprivate func isAmong(_ subquery: String) -> String {
            switch self {
            case .sqlite: "IN (\(subquery))"
            case .postgresql: "= ANY (ARRAY(\(subquery)))"
            }
        }
    }

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

    /// The number of deliveries that one transaction works on: none stands in a payment's way.
    static let slice = 500

    /// Endpoint, limit.
    static func removeDeliveries(_ dialect: Dialect) -> String {
        let events = dialect.isAmong(
            "SELECT event_id FROM webhook_deliveries WHERE endpoint_id = $1 LIMIT $2"
        )
        return "DELETE FROM webhook_deliveries WHERE endpoint_id = $1 AND event_id \(events)"
    }

    static let removeEndpoint = "DELETE FROM webhook_endpoints WHERE id = $1"

    /// Each endpoint is looked up in the index of what is due: a long backlog costs no more. Asked
    /// with EXISTS, PostgreSQL might go through the backlog to find the endpoints in it.
    static let due = """
        SELECT id FROM webhook_endpoints WHERE disabled IS NULL AND (
            SELECT 1 FROM webhook_deliveries
            WHERE endpoint_id = id AND dead_at IS NULL AND next_try_at <= $1 LIMIT 1
        ) IS NOT NULL ORDER BY id
        """

    /// Stands as the error of a try until its outcome is noted.
    static let unended = "The try did not end."

    /// Time, lease's end, endpoint, limit.
    ///
    /// A try that never ends, because it ends the process, is a failed one: the wait for the next
    /// doubles from the lease's length to an hour, and after the last one comes none (`give_up_at`
    /// 0). With the unary plus the outer statement finds its rows by their key, as that of `bury`
    /// does: both databases might search all that is due instead.
    static func claim(_ dialect: Dialect) -> String {
        let events = dialect.isAmong(
            """
            SELECT event_id FROM webhook_deliveries
            WHERE endpoint_id = $3 AND dead_at IS NULL AND next_try_at <= $1
            ORDER BY next_try_at LIMIT $4
            """
        )
        return """
            UPDATE webhook_deliveries SET attempts = attempts + 1,
                give_up_at = CASE
                    WHEN attempts = 0 THEN CAST($1 AS bigint) + \(patienceMilliseconds)
                    WHEN last_error = '\(unended)' AND give_up_at <= $1 THEN 0
                    ELSE give_up_at END,
                next_try_at = CAST($2 AS bigint) + CASE
                    WHEN attempts = 0 OR last_error IS NULL OR last_error <> '\(unended)' THEN 0
                    WHEN attempts > 5 THEN 3600000
                    ELSE 60000 << CAST(attempts AS integer) END,
                last_error = '\(unended)'
            WHERE endpoint_id = $3 AND +dead_at IS NULL AND next_try_at <= $1 AND event_id \(events)
            RETURNING event_id
            """
    }

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

    /// Why, endpoint. From then on nothing is put in for it, and nothing is due.
    static let disable = """
        UPDATE webhook_endpoints SET disabled = $1 WHERE id = $2 AND disabled IS NULL
        """

    /// Endpoint. The same, for good: only the end of its removal follows.
    static let beginRemoval = """
        UPDATE webhook_endpoints SET disabled = '\(WebhookEndpoint.removal)' WHERE id = $1
        """

    /// Endpoints that want nothing any more while something waits for them. What waits for one that
    /// is being removed goes with it.
    static let disabledWithBacklog = """
        SELECT id, disabled FROM webhook_endpoints
        WHERE disabled <> '\(WebhookEndpoint.removal)' AND (
            SELECT 1 FROM webhook_deliveries WHERE endpoint_id = id AND dead_at IS NULL LIMIT 1
        ) IS NOT NULL ORDER BY id
        """

    /// Error, time, endpoint, limit.
    static func bury(_ dialect: Dialect) -> String {
        let events = dialect.isAmong(
            """
            SELECT event_id FROM webhook_deliveries
            WHERE endpoint_id = $3 AND dead_at IS NULL ORDER BY next_try_at LIMIT $4
            """
        )
        return """
            UPDATE webhook_deliveries SET last_error = $1, dead_at = $2
            WHERE endpoint_id = $3 AND +dead_at IS NULL AND event_id \(events)
            """
    }

    static func backlog(dead: Bool) -> String {
        """
        SELECT endpoint_id, event_id, kind, session_id, attempts, next_try_at, last_error
        FROM webhook_deliveries WHERE dead_at IS \(dead ? "NOT " : "")NULL
        ORDER BY happened_at, endpoint_id, event_id LIMIT $1
        """
    }

    /// Endpoint.
    static let revive = """
        UPDATE webhook_endpoints SET disabled = NULL
        WHERE id = $1 AND disabled <> '\(WebhookEndpoint.removal)'
        """

    /// Time, endpoint, event.
    static let resendOne = resend("= $3")

    /// Time, endpoint, limit.
    static func resendSome(_ dialect: Dialect) -> String {
        resend(
            dialect.isAmong(
                """
                SELECT event_id FROM webhook_deliveries
                WHERE endpoint_id = $2 AND dead_at IS NOT NULL LIMIT $3
                """
            )
        )
    }

    private static func resend(_ events: String) -> String {
        """
        UPDATE webhook_deliveries SET dead_at = NULL, next_try_at = CAST($1 AS bigint),
            give_up_at = CAST($1 AS bigint) + \(patienceMilliseconds), last_error = NULL
        WHERE endpoint_id = $2 AND dead_at IS NOT NULL AND event_id \(events)
        """
    }
}
