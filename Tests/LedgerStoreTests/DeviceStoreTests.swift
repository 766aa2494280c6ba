import Devices
import Foundation
import GotchuCore
import Ledger
import LedgerStore
import LedgerTestSupport
import TestSupport
import Testing

@Suite("Devices in the database", .timeLimit(.minutes(hangLimit)))
struct DeviceStoreTests {
    @Test(
        "A device is read as it was stored, and written only if it has changed",
        arguments: StoreKind.all
    )
    func change(kind: StoreKind) async throws {
        let books = try await Planted.books(kind)
        let registry = DeviceRegistry(try books.open())
        let id = DeviceID.make()
        let device = Device(
            id: id,
            user: Cast.users[0],
            name: "till",
            scopes: "payee",
            createdAt: Timestamp(milliseconds: 1),
            family: Array(repeating: 1, count: 32),
            current: Array(repeating: 2, count: 32),
            expiresAt: Timestamp(milliseconds: 9_000)
        )
        try await registry.add(device)
        #expect(try await registry.device(id) == device)
        #expect(try await registry.device(DeviceID.make()) == nil)
        let before = try writes(to: books)
        #expect(try await registry.change(id) { $0.name } == "till")
        #expect(try await registry.change(DeviceID.make()) { $0.name } == nil)
        #expect(try writes(to: books) == before)
        let time = Timestamp(milliseconds: 2)
        _ = try await registry.change(id) { $0.revoke(.byOperator, at: time) }
        #expect(try await registry.device(id)?.revokedAt == time)
        #expect(try writes(to: books) != before)
        let listed = try await registry.devices(limit: 2)
        #expect(listed.map(\.device.id) == [id] && listed.map(\.login) == ["user0@example.org"])
        #expect(try books.audit().isClean)
    }

    /// Returns a text that changes with each write.
    private func writes(to books: TestBooks) throws -> String {
        switch books.kind {
        case .sqlite:
            let log = try FileManager.default.attributesOfItem(atPath: books.place + "-wal")
            return "\(log[.size] ?? 0)"
        case .postgresql, .distributed:
            return try books.texts("SELECT xmin::text FROM devices").joined(separator: " ")
        }
    }
}
