internal import GotchuCore
package import Ledger
package import LedgerStore

/// The registered devices, stored in the ledger's database, since they act for its users.
package struct DeviceRegistry: Sendable {
    /// The maximum number of one user's devices that are listed.
    private static let pageLimit: Int64 = 500

    private let database: any Database

    package init(_ database: any Database) {
        self.database = database
    }

    /// Adds a new device.
    ///
    /// - Throws: `rejected` if there is no such user.
    package func add(_ device: Device) async throws(LedgerError) {
        try await database.change(Addition(device: device))
    }

    /// Returns the devices, oldest first, at most `limit`, each with its user's login.
    package func devices(limit: Int) async throws(LedgerError) -> [ListedDevice] {
        try await database.read(Listing(limit: limit))
    }

    /// Returns the first page of a user's devices, oldest first.
    package func devices(of user: UserID) async throws(LedgerError) -> [Device] {
        try await database.read(
            Select<Device>(
                "SELECT \(columns) FROM devices WHERE user_id = $1 ORDER BY id LIMIT $2",
                [.text(user.rawValue), .integer(Self.pageLimit)]
            )
        )
    }

    /// Returns a device's current state. Unlike `change`, this delays no writer.
    package func device(_ id: DeviceID) async throws(LedgerError) -> Device? {
        try await database.read(
            Select<Device>("SELECT \(columns) FROM devices WHERE id = $1", [.text(id.rawValue)])
        ).first
    }

    /// Loads a device, calls `body` with it, and stores it if it changed, in one durable
    /// transaction.
    ///
    /// - Returns: The result of `body`, or `nil` if there is no such device.
    package func change<Result: Sendable>(
        _ id: DeviceID,
        _ body: @escaping @Sendable (inout Device) -> Result
    ) async throws(LedgerError) -> Result? {
        try await database.change(Change(id: id, body: body))
    }
}

/// A device and the login of its user.
package struct ListedDevice: Sendable {
    package let device: Device
    package let login: String
}

private struct Listing: StoreQuery {
    let limit: Int

    func run<C: SQLConnection & ~Copyable>(on connection: borrowing C) throws -> [ListedDevice] {
        let devices: [Device] = try connection.rows(
            "SELECT \(columns) FROM devices ORDER BY id LIMIT $1",
            [.integer(Int64(limit))]
        )
        let ids = Set(devices.map(\.user.rawValue)).sorted()
        let users: [UserLogin] = try connection.rows(
            "SELECT id, login FROM users WHERE id \(connection.dialect.isIn("$1"))",
            [.list(ids)]
        )
        let logins = Dictionary(uniqueKeysWithValues: users.map { ($0.id, $0.login) })
        return devices.map { ListedDevice(device: $0, login: logins[$0.user] ?? "") }
    }
}

private struct UserLogin: RowValue {
    let id: UserID
    let login: String

    init(row: borrowing some LedgerRow & ~Copyable) throws {
        id = UserID(trusted: try row.text(0))
        login = try row.text(1)
    }
}

private let columns = """
    id, user_id, name, scopes, created_at, family, current, previous, expires_at, last_used_at,
    revoked_at, revocation, generation, token_ends_at
    """

extension Device: RowValue {
    package init(row: borrowing some LedgerRow & ~Copyable) throws {
        let reason = try row.optionalText(11).map { text in
            guard let reason = Revocation(rawValue: text) else {
                throw LedgerError.corrupt("a device's end")
            }
            return reason
        }
        self.init(
            id: DeviceID(trusted: try row.text(0)),
            user: UserID(trusted: try row.text(1)),
            name: try row.text(2),
            scopes: try row.text(3),
            createdAt: try row.time(4),
            family: try row.blob(5),
            current: try row.blob(6),
            previous: try row.optionalBlob(7)?.hashes ?? [],
            generation: try row.integer(12),
            expiresAt: try row.time(8),
            lastUsedAt: try row.optionalTime(9),
            tokenEndsAt: try row.optionalTime(13),
            revokedAt: try row.optionalTime(10),
            revocation: reason
        )
    }
}

extension [UInt8] {
    /// The bytes, split into SHA-256 hashes.
    fileprivate var hashes: [[UInt8]] {
        stride(from: 0, to: count, by: 32).map { Array(self[$0...].prefix(32)) }
    }
}

private struct Addition: StoreQuery {
    let device: Device

    /// Users are never removed: a user that was found still exists at the commit.
    func run<C: SQLConnection & ~Copyable>(on connection: borrowing C) throws {
        let user: String? = try connection.first(
            "SELECT id FROM users WHERE id = $1",
            [.text(device.user.rawValue)]
        )
        guard user != nil else { throw LedgerError(.rejected, "There is no such user.") }
        try Put(device: device).run(on: connection)
    }
}

private struct Put: StoreQuery {
    let device: Device

    func run<C: SQLConnection & ~Copyable>(on connection: borrowing C) throws {
        try connection.run(
            """
            INSERT INTO devices (\(columns))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
            ON CONFLICT (id) DO UPDATE SET family = excluded.family, current = excluded.current,
                previous = excluded.previous, expires_at = excluded.expires_at,
                last_used_at = excluded.last_used_at, revoked_at = excluded.revoked_at,
                revocation = excluded.revocation, generation = excluded.generation,
                token_ends_at = excluded.token_ends_at
            """,
            [
                .text(device.id.rawValue), .text(device.user.rawValue), .text(device.name),
                .text(device.scopes), .integer(device.createdAt.milliseconds),
                .blob(device.family), .blob(device.current),
                .blob(device.previous.isEmpty ? nil : device.previous.flatMap(\.self)),
                .integer(device.expiresAt.milliseconds),
                .integer(device.lastUsedAt?.milliseconds),
                .integer(device.revokedAt?.milliseconds), .text(device.revocation?.rawValue),
                .integer(device.generation), .integer(device.tokenEndsAt?.milliseconds),
            ]
        )
    }
}

private struct Change<Outcome: Sendable>: StoreQuery {
    let id: DeviceID
    let body: @Sendable (inout Device) -> Outcome

    func run<C: SQLConnection & ~Copyable>(on connection: borrowing C) throws -> Outcome? {
        let found: Device? = try connection.first(
            "SELECT \(columns) FROM devices WHERE id = $1\(connection.dialect.lock)",
            [.text(id.rawValue)]
        )
        guard let found else { return nil }
        var device = found
        let outcome = body(&device)
        if device != found { try Put(device: device).run(on: connection) }
        return outcome
    }
}
