internal import GotchuCore
internal import Postgres

extension PostgreSQLWriter {
    func add(_ device: Device) throws {
        try write { try $0.run([Self.put(device), .commit]) }
    }

    func devices(limit: Int) throws -> [Device] {
        try link.use { connection in
            try connection.query(
                "SELECT \(Columns.device) FROM devices ORDER BY id LIMIT $1",
                [.integer(Int64(limit))],
                read: { try $0.device() }
            )
        }
    }

    func change<Result: Sendable>(
        _ id: DeviceID,
        _ body: @Sendable (inout Device) -> Result
    ) throws -> Result? {
        try write { connection in
            var found: Device?
            try connection.run([
                Query(
                    "SELECT \(Columns.device) FROM devices WHERE id = $1 FOR UPDATE",
                    [.text(id.rawValue)]
                ) { found = try $0.device() }
            ])
            guard let found else {
                try connection.run([Query("ROLLBACK")])
                return nil
            }
            var device = found
            let result = body(&device)
            try connection.run(
                device == found ? [Query("ROLLBACK")] : [Self.put(device), .commit]
            )
            return result
        }
    }

    private static func put(_ device: Device) -> Query {
        Query(
            """
            INSERT INTO devices (\(Columns.device))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
            ON CONFLICT (id) DO UPDATE SET \(Columns.deviceChange)
            """,
            [
                .text(device.id.rawValue), .text(device.user.rawValue), .text(device.name),
                .text(device.scopes), .integer(device.createdAt.milliseconds),
                .bytes(device.family), .bytes(device.current),
                device.previous.map { .bytes($0) } ?? .null,
                .integer(device.expiresAt.milliseconds),
                .integer(device.lastUsedAt?.milliseconds),
                .integer(device.revokedAt?.milliseconds), .text(device.revocation?.rawValue),
                .integer(device.generation),
            ]
        )
    }
}
