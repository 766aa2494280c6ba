internal import Devices
internal import GotchuCore
internal import LedgerStore
internal import ServiceProcess

/// The `devices` commands' view of a database; works beside a running server.
struct DeviceAdministration: Sendable {
    private static let listLimit = 100_000

    private let registry: DeviceRegistry

    init(_ store: any Store) {
        registry = DeviceRegistry(store)
    }

    /// Returns the devices, oldest first, each with its user's login.
    func devices() async throws -> [ListedDevice] {
        try await registry.devices(limit: Self.listLimit)
    }

    func change(_ id: String, _ body: @escaping @Sendable (inout Device) -> Void) async throws {
        guard try await registry.change(DeviceID(trusted: id), body) != nil else {
            throw ServerFailure(
                .negative,
                "There is no device of that id.",
                fix: "gotchu-server devices list"
            )
        }
    }
}

extension Device {
    /// The device's state in one word.
    func state(at time: Timestamp) -> String {
        switch revocation {
        case .byOperator: "revoked"
        case .byReuse: "revoked-for-reuse"
        case nil where time >= expiresAt: "ended"
        case nil: lastUsedAt == nil ? "waiting" : "good"
        }
    }
}
