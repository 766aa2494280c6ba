internal import LedgerStore

/// The outbox's statements, in SQL that both engines understand.
enum OutboxQueries {
    static let add = """
        INSERT INTO endpoints (id, url, owner, created_at, secret)
        VALUES ($1, $2, $3, $4, $5)
        """

    /// Parameters: user.
    static let owner = "SELECT id FROM users WHERE id = $1"

    static let endpointCount = "SELECT count(*) FROM endpoints"

    static let endpoints = "\(endpointRows) ORDER BY created_at, id"

    /// Parameters: owner.
    static let ownedEndpoints = "\(endpointRows) WHERE owner = $1 ORDER BY created_at, id"

    /// Parameters: owner. Stops at the first dead delivery instead of counting them.
    static let ownedFailures = """
        SELECT id FROM endpoints
        WHERE owner = $1 AND coalesce(disabled, '') <> '\(WebhookEndpoint.removal)'
            AND (disabled IS NOT NULL OR (
                SELECT 1 FROM deliveries
                WHERE endpoint = endpoints.id AND dead_at IS NOT NULL LIMIT 1
            ) IS NOT NULL)
        """

    private static let endpointRows = """
        SELECT id, url, owner, created_at, disabled,
            (SELECT count(*) FROM deliveries
                WHERE endpoint = endpoints.id AND dead_at IS NULL),
            (SELECT count(*) FROM deliveries
                WHERE endpoint = endpoints.id AND dead_at IS NOT NULL)
        FROM endpoints
        """

    /// The maximum number of deliveries in one transaction, so that it delays no payment.
    static let slice = 500

    /// Parameters: endpoint, limit.
    static func removeDeliveries(_ dialect: Dialect) -> String {
        let events = dialect.isAmong(
            "SELECT event FROM deliveries WHERE endpoint = $1 LIMIT $2"
        )
        return "DELETE FROM deliveries WHERE endpoint = $1 AND event \(events)"
    }

    /// Parameters: endpoint. The lock waits for payments that are inserting deliveries for the
    /// endpoint.
    static func lockEndpoint(_ dialect: Dialect) -> String {
        "SELECT id FROM endpoints WHERE id = $1\(dialect.lock)"
    }

    static let removeEndpoint = """
        DELETE FROM endpoints WHERE id = $1
            AND (SELECT 1 FROM deliveries WHERE endpoint = $1 LIMIT 1) IS NULL
        """

    /// Searches the index of due deliveries once for each endpoint: a long backlog costs no more.
    /// With EXISTS, PostgreSQL might read the whole backlog.
    static let due = """
        SELECT id FROM endpoints WHERE disabled IS NULL AND (
            SELECT 1 FROM deliveries
            WHERE endpoint = endpoints.id AND dead_at IS NULL AND next_try_at <= $1 LIMIT 1
        ) IS NOT NULL ORDER BY id
        """

    /// The error of an attempt until its outcome is recorded.
    static let unfinishedError = "The attempt did not end."

    /// Parameters: time, lease's end, endpoint, limit.
    ///
    /// If an attempt ends the process, its outcome is never recorded. The next claim counts it as
    /// failed. The next lease is then longer: by two minutes, doubled with each attempt, up to an
    /// hour. If the deadline has passed, `give_up_at` becomes 0, and the delivery is given up.
    ///
    /// In this statement and in `markDead`, the unary plus makes the outer statement find its rows
    /// by key. Otherwise both databases might search all due rows.
    static func claim(_ dialect: Dialect) -> String {
        let events = dialect.isAmong(
            """
            SELECT event FROM deliveries
            WHERE endpoint = $3 AND dead_at IS NULL AND next_try_at <= $1
            ORDER BY next_try_at LIMIT $4
            """
        )
        return """
            UPDATE deliveries SET attempts = attempts + 1,
                give_up_at = CASE
                    WHEN attempts = 0 THEN CAST($1 AS bigint) + \(Delivery.retryWindowMilliseconds)
                    WHEN last_error = '\(unfinishedError)' AND give_up_at <= $1 THEN 0
                    ELSE give_up_at END,
                next_try_at = CAST($2 AS bigint) + CASE
                    WHEN attempts = 0 OR last_error IS NULL
                        OR last_error <> '\(unfinishedError)' THEN 0
                    WHEN attempts > 5 THEN 3600000
                    ELSE 60000 << CAST(attempts AS integer) END,
                last_error = '\(unfinishedError)'
            WHERE endpoint = $3 AND +dead_at IS NULL AND next_try_at <= $1 AND event \(events)
            RETURNING event, attempts, kind, record, owner, at, amount, body, give_up_at
            """
    }

    /// Parameters: endpoint.
    static let address = "SELECT url, secret FROM endpoints WHERE id = $1"

    /// Parameters: endpoint, event, attempt.
    static let delivered = """
        DELETE FROM deliveries
        WHERE endpoint = $1 AND event = $2 AND attempts = $3
        """

    /// Parameters: next attempt, error, time of giving up, endpoint, event, attempt.
    static let failed = """
        UPDATE deliveries SET next_try_at = $1, last_error = $2, dead_at = $3
        WHERE endpoint = $4 AND event = $5 AND attempts = $6
        """

    /// Parameters: reason, endpoint. Afterwards no delivery is inserted for the endpoint, and none
    /// is due.
    static let disable = """
        UPDATE endpoints SET disabled = $1 WHERE id = $2 AND disabled IS NULL
        """

    /// Parameters: endpoint. Disables it permanently: only its removal can follow.
    static let beginRemoval = """
        UPDATE endpoints SET disabled = '\(WebhookEndpoint.removal)' WHERE id = $1
        """

    /// Selects disabled endpoints with pending deliveries. Endpoints being removed are excluded:
    /// their deliveries are removed with them.
    static let disabledWithBacklog = """
        SELECT id, disabled FROM endpoints
        WHERE disabled <> '\(WebhookEndpoint.removal)' AND (
            SELECT 1 FROM deliveries WHERE endpoint = endpoints.id AND dead_at IS NULL LIMIT 1
        ) IS NOT NULL ORDER BY id
        """

    /// Parameters: error, time, endpoint, limit.
    static func markDead(_ dialect: Dialect) -> String {
        let events = dialect.isAmong(
            """
            SELECT event FROM deliveries
            WHERE endpoint = $3 AND dead_at IS NULL ORDER BY next_try_at LIMIT $4
            """
        )
        return """
            UPDATE deliveries SET last_error = $1, dead_at = $2
            WHERE endpoint = $3 AND +dead_at IS NULL AND event \(events)
            """
    }

    /// Parameters: endpoint, limit. Sorted by an index, because there may be millions of rows.
    static func backlog(dead: Bool) -> String {
        """
        SELECT endpoint, event, kind, record, attempts, next_try_at, last_error
        FROM deliveries WHERE endpoint = $1 AND dead_at IS \(dead ? "NOT NULL" : "NULL")
        ORDER BY \(dead ? "event" : "next_try_at") LIMIT $2
        """
    }

    /// Endpoints that are not being removed.
    static let remainingEndpoints = """
        SELECT id FROM endpoints
        WHERE disabled IS NULL OR disabled <> '\(WebhookEndpoint.removal)' ORDER BY id
        """

    /// Parameters: endpoint.
    static let enableEndpoint = """
        UPDATE endpoints SET disabled = NULL
        WHERE id = $1 AND disabled <> '\(WebhookEndpoint.removal)'
        """

    /// Parameters: time, endpoint, event.
    static let resendOne = resend("= $3")

    /// Parameters: time, endpoint, limit.
    static func resendSome(_ dialect: Dialect) -> String {
        resend(
            dialect.isAmong(
                """
                SELECT event FROM deliveries
                WHERE endpoint = $2 AND dead_at IS NOT NULL LIMIT $3
                """
            )
        )
    }

    private static func resend(_ events: String) -> String {
        """
        UPDATE deliveries SET dead_at = NULL, next_try_at = CAST($1 AS bigint),
            give_up_at = CAST($1 AS bigint) + \(Delivery.retryWindowMilliseconds), last_error = NULL
        WHERE endpoint = $2 AND dead_at IS NOT NULL AND event \(events)
        """
    }
}
