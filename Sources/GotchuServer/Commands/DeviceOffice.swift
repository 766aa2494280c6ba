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

    func devices() async throws -> [Device] {
        try await store.devices(limit: Self.listLimit)
    }

    func add(_ device: Device) async throws {
        do {
            try await store.add(device)
        } catch  where error.code == .rejected {
            throw ServerFailure(
                .usage,
                "There is no user of that id in these books.",
                fix: "Leave --user out for a wallet of its own."
            )
        }
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

    /// Takes a user in, in a transaction of its own.
    func openWallet(_ open: OpenWallet) async throws -> UserID {
        let commands = [Command(acceptedAt: .now, action: .openWallet(open))]
        let decision = try await store.commit(touching: Footprint(commands)) { snapshot in
            apply(commands, to: snapshot)
        }
        guard case .user(let user)? = decision.answers.first else {
            preconditionFailure("opening answers with a user")
        }
        return user.id
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
