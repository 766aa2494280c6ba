internal import CPostgres

/// Runs any number of statements with values in one round trip (PostgreSQL manual, 34.5).
extension Connection {
    /// Sends all `queries` at once and reads their results in order. After one fails, the later
    /// ones are not run.
    ///
    /// - Throws: `PostgresError`; or the error of a query's `read`, once all results are received.
    package borrowing func run(_ queries: [Query], within limit: Duration = defaultTimeout) throws {
        let deadline = ContinuousClock.now + limit
        var exchange = Exchange(queries)
        notices.begin()
        health.isCommitting = exchange.hasCommit
        defer { health.isCommitting = false }
        guard PQenterPipelineMode(handle) == 1 else { throw lost(sql: nil) }
        do throws(PostgresError) {
            try send(&exchange)
            try receive(&exchange, before: deadline)
        } catch {
            // Any other error is about invalid values, detected before anything is sent.
            guard error.kind == .connectionLost else {
                PQexitPipelineMode(handle)
                throw error
            }
            throw exchange.meaning(of: exchange.failure ?? error)
        }
        guard PQexitPipelineMode(handle) == 1 else { throw exchange.meaning(of: lost(sql: nil)) }
        if let failure = exchange.failure { throw failure }
        if exchange.hasCommit, let warning = notices.warnings.first(where: \.isCancelledWait) {
            throw PostgresError(.unknownOutcome, state: warning.state, message: warning.message)
        }
        if let error = exchange.readFailure { throw error }
    }

    /// Runs one statement and returns the results of `read` for its rows.
    package borrowing func query<Element>(
        _ sql: String,
        _ values: [Value] = [],
        within limit: Duration = defaultTimeout,
        read: @escaping (borrowing Row) throws -> Element
    ) throws -> [Element] {
        var elements: [Element] = []
        try run([Query(sql, values) { elements.append(try read($0)) }], within: limit)
        return elements
    }

    /// Runs one statement that returns no rows.
    ///
    /// - Returns: The number of rows that it changed.
    package borrowing func change(
        _ sql: String,
        _ values: [Value] = [],
        within limit: Duration = defaultTimeout
    ) throws -> Int {
        var count = 0
        try run([Query(sql, values, changed: { count = $0 })], within: limit)
        return count
    }

    private borrowing func send(_ exchange: inout Exchange) throws(PostgresError) {
        let parameters = try exchange.queries.map { query throws(PostgresError) in
            try Parameters(query.values, sql: query.sql)
        }
        var fresh: [String: String] = [:]
        for (index, query) in exchange.queries.enumerated() {
            let name: String
            if let known = statements.name(of: query.sql) ?? fresh[query.sql] {
                name = known
            } else {
                name = statements.newName(position: index)
                fresh[query.sql] = name
                guard PQsendPrepare(handle, name, query.sql, 0, nil) == 1 else {
                    throw lost(sql: query.sql)
                }
                exchange.expected.append(.preparation(of: index, name: name))
            }
            guard parameters[index].send(to: name, over: handle) == 1 else {
                throw lost(sql: query.sql)
            }
            exchange.expected.append(.rows(of: index))
        }
        guard PQpipelineSync(handle) == 1 else { throw lost(sql: nil) }
    }

    private borrowing func receive(
        _ exchange: inout Exchange,
        before deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        for expected in exchange.expected {
            while let result = try next(before: deadline) {
                exchange.apply(result, for: expected)
                guard isUsable else { throw lost(sql: nil) }
                if case .preparation(let index, let name) = expected, result.isGood {
                    statements.remember(name, for: exchange.queries[index].sql)
                }
            }
        }
        guard let end = try next(before: deadline), end.status == PGRES_PIPELINE_SYNC else {
            throw lost(sql: nil)
        }
    }
}

extension Notice {
    /// A Boolean that is true if a COMMIT stopped waiting for its replicas. The server then only
    /// warns and reports success: the payment is on one disk, and is lost if that machine is lost
    /// (PostgreSQL manual, 27.2.8.3). If a person cancels the wait, the warning has the general
    /// code 01000. Therefore any warning during a COMMIT counts.
    fileprivate var isCancelledWait: Bool {
        state.map { ["01", "57"].contains($0.category) } ?? false
    }
}
