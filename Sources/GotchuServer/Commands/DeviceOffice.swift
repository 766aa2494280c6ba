internal import GotchuCore
internal import Ledger
internal import ServiceProcess

/// The devices of a database, for the commands; works beside a running server.
struct DeviceOffice: Sendable {
    private static let listLimit = 100_000

    private let store: any LedgerStore & DeviceStore

    init(_ store: any LedgerStore & DeviceStore) {
        self.store = store
    }

    /// The devices, oldest first, each with its user's login.
    func devices() async throws -> [(device: Device, login: String)] {
        let devices = try await store.devices(limit: Self.listLimit)
        var wanted = Footprint()
        wanted.users = Set(devices.map(\.user))
        let users = try await store.users(wanted)
        let logins = Dictionary(uniqueKeysWithValues: users.map { ($0.id, $0.email) })
        return devices.map { ($0, logins[$0.user] ?? "") }
    }

    func change(_ id: String, _ body: @Sendable (inout Device) -> Void) async throws {
        guard try await store.change(DeviceID(trusted: id), body) != nil else {
            throw ServerFailure(
                .negative,
                "There is no device of that id.",
                fix: "gotchu-server devices list"
            )
        }
    }
}

extension Device {
    /// How it stands, in one word.
    func state(at time: Timestamp) -> String {
        switch revocation {
        case .byOperator: "revoked"
        case .byReuse: "revoked-for-reuse"
        case nil where time >= expiresAt: "ended"
        case nil: lastUsedAt == nil ? "waiting" : "good"
        }
    }
}
