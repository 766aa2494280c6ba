import Devices
import GotchuCore
import Ledger
import LedgerStore
import LedgerTestSupport
import TestSupport
import Testing

@Suite("Devices in the database")
struct DeviceStoreTests {
    private static func secret(_ number: UInt8) -> [UInt8] { Array(repeating: number, count: 32) }

    private static func device(of user: UserID) -> Device {
        Device(
            id: .make(),
            user: user,
            name: "till",
            scopes: "payee",
            createdAt: Timestamp(milliseconds: 1),
            family: secret(0),
            current: secret(1),
            expiresAt: Timestamp(milliseconds: 9_000)
        )
    }

    private static func exchange(
        _ shown: UInt8,
        for next: UInt8,
        of device: inout Device
    ) -> Device.Admission {
        device.admit(
            family: secret(0),
            secret: secret(shown),
            number: nil,
            successor: secret(next),
            at: Timestamp(milliseconds: Int64(next))
        )
    }

    @Test(
        "A device is stored whole, written only if changed, and refused if its user does not exist",
        arguments: StoreKind.all
    )
    func change(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        let registry = DeviceRegistry(try database.open())
        let error = await #expect(throws: LedgerError.self) {
            try await registry.add(Self.device(of: .make()))
        }
        #expect(error?.code == .rejected)
        let device = Self.device(of: Cast.users[0])
        let id = device.id
        try await registry.add(device)
        #expect(try await registry.device(id) == device)
        #expect(try await registry.device(.make()) == nil)
        let listed = try await registry.devices(limit: 2)
        #expect(listed.map(\.device) == [device] && listed.map(\.login) == ["user0@example.org"])
        try countWrites(to: database)
        let before = try writes(to: database)
        #expect(try await registry.change(id) { $0.name } == "till")
        #expect(try await registry.change(.make()) { $0.name } == nil)
        #expect(try writes(to: database) == before)
        var expected = device
        for (shown, next, admission) in [
            (1, 2, .admitted), (2, 3, .admitted), (1, 9, .revoked),
        ] as [(UInt8, UInt8, Device.Admission)] {
            let result = Self.exchange(shown, for: next, of: &expected)
            #expect(result == admission)
            expected.recordToken(until: Timestamp(milliseconds: Int64(next) + 600))
            let stored = try await registry.change(id) { device in
                defer { device.recordToken(until: Timestamp(milliseconds: Int64(next) + 600)) }
                return Self.exchange(shown, for: next, of: &device)
            }
            #expect(stored == admission)
            #expect(try await registry.device(id) == expected)
        }
        #expect(try writes(to: database) != before)
        var revoked = Self.device(of: Cast.users[0])
        revoked.revoke(.byOperator, at: Timestamp(milliseconds: 2))
        try await registry.add(revoked)
        let reopened = DeviceRegistry(try database.open())
        #expect(try await reopened.device(id) == expected)
        #expect(try await reopened.device(revoked.id) == revoked)
        #expect(expected.revocation == .byReuse && expected.previous.count == 2)
        #expect(try database.audit().isClean)
    }

    /// Makes SQLite count the writes of devices; PostgreSQL shows them without this.
    private func countWrites(to database: TestDatabase) throws {
        guard database.kind == .sqlite else { return }
        try database.execute(
            """
            CREATE TABLE device_writes (id TEXT);
            CREATE TRIGGER device_is_written AFTER UPDATE ON devices
            BEGIN INSERT INTO device_writes VALUES (new.id); END
            """
        )
    }

    /// Returns texts that change with each write of a device.
    private func writes(to database: TestDatabase) throws -> [String] {
        switch database.kind {
        case .sqlite: try database.texts("SELECT id FROM device_writes")
        case .postgresql, .distributed: try database.texts("SELECT xmin::text FROM devices")
        }
    }
}
