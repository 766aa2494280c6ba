internal import GotchuCore
internal import SQLite

/// Devices are written by the connection that writes the books: two writers in one process would
/// only wait for each other's lock.
extension SQLiteStore: DeviceStore {
    package func add(_ device: Device) async throws(LedgerError) {
        try await wrapping(.tryAgain) { try await writer.add(device) }
    }

    package func devices(limit: Int) async throws(LedgerError) -> [Device] {
        try await wrapping(.tryAgain) { try await writer.devices(limit: limit) }
    }

    package func device(_ id: DeviceID) async throws(LedgerError) -> Device? {
        try await wrapping(.tryAgain) { try await reader.device(id) }
    }

    package func change<Result: Sendable>(
        _ id: DeviceID,
        _ body: @Sendable (inout Device) -> Result
    ) async throws(LedgerError) -> Result? {
        try await wrapping(.tryAgain) { try await writer.change(id, body) }
    }
}

extension SQLiteReader {
    fileprivate func device(_ id: DeviceID) throws -> Device? { try connection.device(id) }
}

extension Connection {
    fileprivate borrowing func device(_ id: DeviceID) throws -> Device? {
        try query(
            "SELECT \(Columns.device) FROM devices WHERE id = ?1",
            [.text(id.rawValue)],
            read: { try $0.device() }
        ).first
    }
}

extension SQLiteWriter {
    fileprivate func add(_ device: Device) throws {
        try transaction { try put(device) }
    }

    fileprivate func devices(limit: Int) throws -> [Device] {
        try connection.query(
            "SELECT \(Columns.device) FROM devices ORDER BY id LIMIT ?1",
            [.integer(Int64(limit))],
            read: { try $0.device() }
        )
    }

    fileprivate func change<Result: Sendable>(
        _ id: DeviceID,
        _ body: @Sendable (inout Device) -> Result
    ) throws -> Result? {
        try transaction {
            guard let found = try connection.device(id) else { return nil }
            var device = found
            let result = body(&device)
            if device != found { try put(device) }
            return result
        }
    }

    private func put(_ device: Device) throws {
        try connection.run(
            """
            INSERT INTO devices (\(Columns.device))
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            ON CONFLICT (id) DO UPDATE SET
                family = excluded.family, current = excluded.current, previous = excluded.previous,
                expires_at = excluded.expires_at, last_used_at = excluded.last_used_at,
                revoked_at = excluded.revoked_at, revocation = excluded.revocation,
                generation = excluded.generation
            """,
            [
                .text(device.id.rawValue), .text(device.user.rawValue), .text(device.name),
                .text(device.scopes), .integer(device.createdAt.milliseconds),
                .blob(device.family), .blob(device.current),
                device.previous.map { .blob($0) } ?? .null,
                .integer(device.expiresAt.milliseconds),
                .integer(device.lastUsedAt?.milliseconds),
                .integer(device.revokedAt?.milliseconds), .text(device.revocation?.rawValue),
                .integer(device.generation),
            ]
        )
    }
}
