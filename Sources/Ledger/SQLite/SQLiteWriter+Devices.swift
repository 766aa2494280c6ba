internal import GotchuCore
internal import SQLite

extension Connection {
    borrowing func device(_ id: DeviceID) throws -> Device? {
        try query(
            "SELECT \(Columns.device) FROM devices WHERE id = ?1",
            [.text(id.rawValue)],
            read: { try $0.device() }
        ).first
    }
}

extension SQLiteWriter {
    func add(_ device: Device) throws {
        try transaction { try put(device) }
    }

    func devices(limit: Int) throws -> [Device] {
        try connection.query(
            "SELECT \(Columns.device) FROM devices ORDER BY id LIMIT ?1",
            [.integer(Int64(limit))],
            read: { try $0.device() }
        )
    }

    func change<Result: Sendable>(
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
            ON CONFLICT (id) DO UPDATE SET \(Columns.deviceChange)
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
