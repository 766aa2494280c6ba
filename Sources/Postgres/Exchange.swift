internal import CPostgres

/// The queries of one round trip and the results received so far.
struct Exchange {
    enum Expected {
        case preparation(of: Int, name: String)
        case rows(of: Int)
    }

    let queries: [Query]
    /// The results still to be received, in order.
    var expected: [Expected] = []
    /// The error of the first statement that failed.
    private(set) var failure: PostgresError?
    /// The error thrown while rows were read, if any.
    private(set) var readFailure: (any Error)?

    init(_ queries: [Query]) {
        self.queries = queries
    }

    var hasCommit: Bool { queries.contains(where: \.isCommit) }

    mutating func apply(_ result: borrowing Result, for expected: Expected) {
        let index =
            switch expected {
            case .preparation(let index, _), .rows(let index): index
            }
        let query = queries[index]
        guard result.isGood else {
            // A statement skipped because of an earlier failure has no error of its own.
            if failure == nil { failure = Self.failure(result, in: query) }
            return
        }
        guard case .rows = expected else { return }
        if query.isCommit, result.command != "COMMIT", failure == nil {
            failure = PostgresError(.retryable, message: "the transaction had failed before")
        }
        query.changed(result.changedRows)
        do {
            if readFailure == nil { try result.forEachRow(query.read) }
        } catch {
            readFailure = error
        }
    }

    private static func failure(_ result: borrowing Result, in query: Query) -> PostgresError {
        let (state, message) = result.serverError
        let kind: PostgresError.Kind
        if query.isCommit, result.isFatal {
            // Applies to every code: for example, a full disk may end a COMMIT that is already on
            // the disk.
            kind = .unknownOutcome
        } else if let state {
            kind = PostgresError.Kind(state, isCommit: query.isCommit)
        } else {
            // An error from libpq itself: the connection is lost. libpq reports it for the
            // statement that is being waited for, even if the server has already run later ones.
            kind = .connectionLost
        }
        return PostgresError(kind, state: state, message: message, sql: query.sql)
    }

    /// Converts the error of a lost connection: if the queries include a COMMIT, the outcome is
    /// unknown.
    func meaning(of error: PostgresError) -> PostgresError {
        guard error.kind == .connectionLost, error.state == nil, hasCommit else { return error }
        return PostgresError(.unknownOutcome, message: error.message, sql: error.sql)
    }
}
