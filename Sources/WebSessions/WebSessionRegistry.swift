package import GotchuCore
package import Ledger
package import LedgerStore

/// The sessions of browsers, stored in the ledger's database, so that each server knows them and a
/// logout takes effect everywhere at once.
package struct WebSessionRegistry: Sendable {
    private let database: any Database

    package init(_ database: any Database) {
        self.database = database
    }

    /// Begins a session; removes some expired ones.
    ///
    /// - Returns: False if a session with this id is stored: its login was used before.
    package func begin(_ session: WebSession) async throws(LedgerError) -> Bool {
        try await database.change(InsertSession(session: session))
    }

    /// Returns a session that is valid now, and records its use.
    ///
    /// - Parameter isUsed: False for a request that a page makes by itself, possibly without a
    ///   person.
    /// - Throws: If it cannot be read. A use that cannot be written is not recorded.
    package func session(
        _ id: [UInt8],
        at time: Timestamp,
        isUsed: Bool = true
    ) async throws(LedgerError) -> WebSession? {
        let found = try await database.read(
            Select<WebSession>("SELECT \(columns) FROM web_sessions WHERE id = $1", [.blob(id)])
        ).first
        guard let found, found.isValid(at: time) else { return nil }
        if isUsed, time >= found.usedAt.advanced(by: WebSession.touchInterval) {
            try? await database.change(TouchSession(id: id, time: time))
        }
        return found
    }

    /// Ends a session, for every server.
    package func end(_ id: [UInt8], at time: Timestamp) async throws(LedgerError) {
        try await database.change(EndSession(id: id, time: time))
    }
}

private let columns = """
    id, user_id, user_name, scopes, authenticated_at, used_at, expires_at, ended_at
    """

extension WebSession: RowValue {
    package init(row: borrowing some LedgerRow & ~Copyable) throws {
        self.init(
            id: try row.blob(0),
            user: UserID(trusted: try row.text(1)),
            userName: try row.text(2),
            scopes: try row.text(3),
            authenticatedAt: try row.optionalTime(4),
            usedAt: try row.time(5),
            expiresAt: try row.time(6),
            endedAt: try row.optionalTime(7)
        )
    }
}

private struct InsertSession: StoreQuery {
    /// The maximum number of expired sessions that one login removes. It is above one, so that they
    /// do not accumulate, and low enough to delay nothing.
    private static let slice: Int64 = 100

    let session: WebSession

    func run<C: SQLConnection & ~Copyable>(on connection: borrowing C) throws -> Bool {
        let expired = connection.dialect.isAmong(
            "SELECT id FROM web_sessions WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2"
        )
        try connection.run(
            "DELETE FROM web_sessions WHERE id \(expired)",
            [.integer(session.usedAt.milliseconds), .integer(Self.slice)]
        )
        let count = try connection.run(
            """
            INSERT INTO web_sessions (\(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (id) DO NOTHING
            """,
            [
                .blob(session.id), .text(session.user.rawValue), .text(session.userName),
                .text(session.scopes), .integer(session.authenticatedAt?.milliseconds),
                .integer(session.usedAt.milliseconds), .integer(session.expiresAt.milliseconds),
                .integer(session.endedAt?.milliseconds),
            ]
        )
        return count == 1
    }
}

private struct TouchSession: StoreQuery {
    let id: [UInt8]
    let time: Timestamp

    func run<C: SQLConnection & ~Copyable>(on connection: borrowing C) throws {
        try connection.run(
            "UPDATE web_sessions SET used_at = $1 WHERE id = $2 AND used_at < $1",
            [.integer(time.milliseconds), .blob(id)]
        )
    }
}

private struct EndSession: StoreQuery {
    let id: [UInt8]
    let time: Timestamp

    func run<C: SQLConnection & ~Copyable>(on connection: borrowing C) throws {
        try connection.run(
            "UPDATE web_sessions SET ended_at = $1 WHERE id = $2 AND ended_at IS NULL",
            [.integer(time.milliseconds), .blob(id)]
        )
    }
}
