package import GotchuCore
package import Ledger
package import LedgerStore

/// The outbox. A commit inserts deliveries of its events; each is removed after it succeeded. No
/// transaction here changes so many rows that a payment waits long for it.
package struct Outbox: Sendable {
    private let database: any Database

    package init(_ database: any Database) {
        self.database = database
    }

    /// Adds an endpoint.
    ///
    /// - Throws: `rejected` if there are too many already, or no such owner.
    package func add(_ endpoint: WebhookEndpoint, secret: [UInt8]) async throws(LedgerError) {
        try await database.change(Addition(endpoint: endpoint, secret: secret))
    }

    /// Returns all endpoints with the numbers of their deliveries. Counting reads every stored
    /// delivery.
    package func endpoints() async throws(LedgerError) -> [WebhookEndpoint] {
        try await database.read(Select<WebhookEndpoint>(OutboxQueries.endpoints))
    }

    /// Returns the endpoints of one owner. The operator's have no owner and are not included.
    package func endpoints(of owner: UserID) async throws(LedgerError) -> [WebhookEndpoint] {
        try await database.read(
            Select<WebhookEndpoint>(OutboxQueries.ownedEndpoints, [.text(owner.rawValue)])
        )
    }

    /// Returns true if an endpoint of the owner is disabled or has dead deliveries. Endpoints that
    /// are being removed do not count.
    package func hasFailures(of owner: UserID) async throws(LedgerError) -> Bool {
        try await !database.read(
            Select<String>(OutboxQueries.ownedFailures, [.text(owner.rawValue)])
        ).isEmpty
    }

    /// Removes an endpoint with all its deliveries. If interrupted, it must be called again: until
    /// then the endpoint receives nothing and cannot be enabled.
    ///
    /// - Returns: True if the endpoint existed.
    package func remove(_ id: String) async throws(LedgerError) -> Bool {
        let begin = Statement(sql: { _ in OutboxQueries.beginRemoval }, values: [.text(id)])
        // Later transactions insert nothing for the endpoint. Existing rows are removed in slices.
        guard try await database.change(begin) > 0 else { return false }
        let slice = SQLValue.integer(Int64(OutboxQueries.slice))
        let removal = Statement(sql: OutboxQueries.removeDeliveries, values: [.text(id), slice])
        repeat {
            while try await database.change(removal) == OutboxQueries.slice {}
            // A payment that began earlier may have inserted another delivery.
        } while try await database.change(RemovalEnd(endpoint: id)) == 0
        return true
    }

    /// Marks some pending deliveries of disabled endpoints as dead.
    package func markDead(at time: Timestamp) async throws(LedgerError) {
        for endpoint in try await database.read(Select<Disabled>(OutboxQueries.disabledWithBacklog))
        {
            let values: [SQLValue] = [
                .text(endpoint.reason), .integer(time.milliseconds), .text(endpoint.id),
                .integer(Int64(OutboxQueries.slice)),
            ]
            _ = try await database.change(Statement(sql: OutboxQueries.markDead, values: values))
        }
    }

    /// Returns the endpoints with due deliveries.
    package func dueEndpoints(at time: Timestamp) async throws(LedgerError) -> [String] {
        try await database.read(Select<String>(OutboxQueries.due, [.integer(time.milliseconds)]))
    }

    /// Claims due deliveries of an endpoint, the longest due first. No other worker gets them
    /// before `leaseEnd`. A delivery that is not finished becomes due again then, or later if
    /// earlier attempts did not end either.
    package func claim(
        for endpoint: String,
        at time: Timestamp,
        until leaseEnd: Timestamp,
        limit: Int
    ) async throws(LedgerError) -> [WebhookDelivery] {
        try await database.change(
            Claim(endpoint: endpoint, time: time, leaseEnd: leaseEnd, limit: limit)
        )
    }

    /// Records the outcomes of attempts, in one commit. If a delivery has been claimed again since,
    /// it is not changed.
    package func finish(
        _ attempts: [WebhookDelivery.FinishedAttempt],
        at time: Timestamp
    ) async throws(LedgerError) {
        try await database.change(Finish(attempts: attempts, time: time))
    }

    /// Returns the pending or dead deliveries, the longest waiting first.
    package func backlog(
        dead: Bool,
        limit: Int
    ) async throws(LedgerError) -> [WebhookBacklogEntry] {
        var entries: [WebhookBacklogEntry] = []
        for endpoint in try await remainingEndpoints() {
            entries += try await backlog(of: endpoint, dead: dead, limit: limit)
        }
        entries.sort { left, right in
            let (first, second) = (left.id, right.id)
            if !dead, left.nextTryAt != right.nextTryAt { return left.nextTryAt < right.nextTryAt }
            return (first.event, first.endpoint) < (second.event, second.endpoint)
        }
        return Array(entries.prefix(limit))
    }

    /// Returns the pending or dead deliveries of one endpoint.
    package func backlog(
        of endpoint: String,
        dead: Bool,
        limit: Int
    ) async throws(LedgerError) -> [WebhookBacklogEntry] {
        try await database.read(
            Select<WebhookBacklogEntry>(
                OutboxQueries.backlog(dead: dead),
                [.text(endpoint), .integer(Int64(limit))]
            )
        )
    }

    private func remainingEndpoints() async throws(LedgerError) -> [String] {
        try await database.read(Select<String>(OutboxQueries.remainingEndpoints))
    }

    /// Schedules dead deliveries for another day of attempts, and enables their endpoints again,
    /// unless they are being removed.
    ///
    /// - Parameter event: The event to send again; `nil` for all of them.
    /// - Returns: The number of deliveries.
    package func resend(event: String?, at time: Timestamp) async throws(LedgerError) -> Int {
        var count = 0
        for endpoint in try await remainingEndpoints() {
            count += try await resend(to: endpoint, event: event, at: time)
        }
        return count
    }

    /// Schedules the dead deliveries of one endpoint in the same way.
    package func resend(
        to endpoint: String,
        event: String?,
        at time: Timestamp
    ) async throws(LedgerError) -> Int {
        var (count, slice) = (0, 0)
        repeat {
            slice = try await database.change(Resend(endpoint: endpoint, event: event, time: time))
            count += slice
        } while slice == OutboxQueries.slice
        return count
    }
}

private struct Addition: StoreQuery {
    let endpoint: WebhookEndpoint
    let secret: [UInt8]

    func run<C: SQLConnection & ~Copyable>(on connection: borrowing C) throws {
        let count: Int64? = try connection.first(OutboxQueries.endpointCount)
        guard let count, count < WebhookEndpoint.limit else {
            throw LedgerError(.rejected, "There are too many endpoints.")
        }
        if let owner = endpoint.owner {
            let user: String? = try connection.first(OutboxQueries.owner, [.text(owner.rawValue)])
            guard user != nil else { throw LedgerError(.rejected, "There is no such user.") }
        }
        try connection.run(
            OutboxQueries.add,
            [
                .text(endpoint.id), .text(endpoint.url), .text(endpoint.owner?.rawValue),
                .integer(endpoint.createdAt.milliseconds), .blob(secret),
            ]
        )
    }
}

/// One statement without rows, whose result is the number of rows that it changed.
private struct Statement: StoreQuery {
    let sql: @Sendable (Dialect) -> String
    let values: [SQLValue]

    func run<C: SQLConnection & ~Copyable>(on connection: borrowing C) throws -> Int {
        try connection.run(sql(connection.dialect), values)
    }
}

private struct RemovalEnd: StoreQuery {
    let endpoint: String

    /// - Returns: 0 if the endpoint has deliveries again.
    func run<C: SQLConnection & ~Copyable>(on connection: borrowing C) throws -> Int {
        let lock = OutboxQueries.lockEndpoint(connection.dialect)
        let found: String? = try connection.first(lock, [.text(endpoint)])
        guard found != nil else { return 1 }
        return try connection.run(OutboxQueries.removeEndpoint, [.text(endpoint)])
    }
}

/// A disabled endpoint, and the reason.
private struct Disabled: RowValue {
    let id: String
    let reason: String

    init(row: borrowing some LedgerRow & ~Copyable) throws {
        id = try row.text(0)
        reason = try row.text(1)
    }
}

private struct Claim: StoreQuery {
    let endpoint: String
    let time: Timestamp
    let leaseEnd: Timestamp
    let limit: Int

    private struct Address: RowValue {
        let url: String
        let secret: [UInt8]

        init(row: borrowing some LedgerRow & ~Copyable) throws {
            url = try row.text(0)
            secret = try row.blob(1)
        }
    }

    private struct Claimed: RowValue {
        let event: String
        let attempt: Int64
        let kind: String
        let record: RecordID
        let owner: UserID
        let at: Timestamp
        let amount: Int64?
        let body: String
        let giveUpAt: Timestamp

        init(row: borrowing some LedgerRow & ~Copyable) throws {
            event = try row.text(0)
            attempt = try row.integer(1)
            kind = try row.text(2)
            record = RecordID(trusted: try row.text(3))
            owner = UserID(trusted: try row.text(4))
            at = try row.time(5)
            amount = try row.optionalInteger(6)
            body = try row.text(7)
            giveUpAt = try row.time(8)
        }
    }

    func run<C: SQLConnection & ~Copyable>(
        on connection: borrowing C
    ) throws -> [WebhookDelivery] {
        let address: Address? = try connection.first(OutboxQueries.address, [.text(endpoint)])
        guard let address else { return [] }
        let claimed: [Claimed] = try connection.rows(
            OutboxQueries.claim(connection.dialect),
            [
                .integer(time.milliseconds), .integer(leaseEnd.milliseconds), .text(endpoint),
                .integer(Int64(limit)),
            ]
        )
        return claimed.sorted { $0.event < $1.event }.map { claimed in
            WebhookDelivery(
                id: WebhookDelivery.ID(endpoint: endpoint, event: claimed.event),
                attempt: claimed.attempt,
                kind: claimed.kind,
                record: claimed.record,
                owner: claimed.owner,
                at: claimed.at,
                amount: claimed.amount,
                body: claimed.body,
                giveUpAt: claimed.giveUpAt,
                url: address.url,
                secret: address.secret
            )
        }
    }
}

private struct Finish: StoreQuery {
    let attempts: [WebhookDelivery.FinishedAttempt]
    let time: Timestamp

    /// Updates the deliveries in the order of their ids, so that two servers cannot deadlock.
    func run<C: SQLConnection & ~Copyable>(on connection: borrowing C) throws {
        let ordered = attempts.sorted {
            ($0.id.endpoint, $0.id.event) < ($1.id.endpoint, $1.id.event)
        }
        for ended in ordered {
            let id: [SQLValue] = [
                .text(ended.id.endpoint), .text(ended.id.event), .integer(ended.attempt),
            ]
            let now = SQLValue.integer(time.milliseconds)
            switch ended.outcome {
            case .delivered:
                try connection.run(OutboxQueries.delivered, id)
            case .failed(let error, let next):
                let values: [SQLValue] = [.integer(next.milliseconds), .text(error), .null]
                try connection.run(OutboxQueries.failed, values + id)
            case .dead(let error):
                try connection.run(OutboxQueries.failed, [now, .text(error), now] + id)
            case .gone(let error):
                try connection.run(
                    OutboxQueries.disable,
                    [.text(error), .text(ended.id.endpoint)]
                )
                try connection.run(OutboxQueries.failed, [now, .text(error), now] + id)
            }
        }
    }
}

private struct Resend: StoreQuery {
    let endpoint: String
    let event: String?
    let time: Timestamp

    func run<C: SQLConnection & ~Copyable>(on connection: borrowing C) throws -> Int {
        let now = SQLValue.integer(time.milliseconds)
        let count: Int
        if let event {
            count = try connection.run(
                OutboxQueries.resendOne,
                [now, .text(endpoint), .text(event)]
            )
        } else {
            count = try connection.run(
                OutboxQueries.resendSome(connection.dialect),
                [now, .text(endpoint), .integer(Int64(OutboxQueries.slice))]
            )
        }
        if count > 0 { try connection.run(OutboxQueries.enableEndpoint, [.text(endpoint)]) }
        return count
    }
}
