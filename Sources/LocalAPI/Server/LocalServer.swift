import Glibc
import HummingbirdCore
package import Logging
import ServiceLifecycle

/// The daemon's HTTP API on a Unix socket.
///
/// The process must hold the path's `SocketLock` and have a umask of 077: the mode admits more
/// users only after the socket is bound. If the policy lists single users, the mode admits
/// everybody, and the policy checks each connection's credentials as reported by the kernel.
package struct LocalServer: Service {
    /// The maximum number of connections. Further ones wait in the kernel's queue.
    package static let connectionLimit = 640
    /// The number of connections reserved for owners. Other users cannot use them up.
    static let ownerReserve = 64
    /// The interval of the heartbeat to each event reader.
    static let heartbeat: Duration = .seconds(15)

    private let path: String
    private let groupID: UInt32?
    private let policy: @Sendable () -> AccessPolicy
    private let backend: any LocalBackend
    private let hub: EventHub
    private let display: DisplayFeed
    private let version: String
    private let traffic: LocalTraffic
    private let onReady: @Sendable () async -> Void
    private let logger: Logger

    /// - Parameters:
    ///   - groupID: The socket's group. Clients read it from the socket's file.
    ///   - policy: Returns the current policy; called for each connection and each request.
    ///   - traffic: Counts connections and replies, and limits the connections.
    ///   - onReady: Called once clients can connect to the socket.
    package init(
        path: String,
        groupID: UInt32?,
        policy: @escaping @Sendable () -> AccessPolicy,
        backend: any LocalBackend,
        hub: EventHub,
        display: DisplayFeed,
        version: String,
        traffic: LocalTraffic,
        logger: Logger,
        onReady: @escaping @Sendable () async -> Void
    ) {
        self.path = path
        self.groupID = groupID
        self.logger = logger
        self.onReady = onReady
        self.policy = policy
        self.backend = backend
        self.hub = hub
        self.display = display
        self.version = version
        self.traffic = traffic
    }

    package func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server().run() }
            group.addTask {
                while true {
                    try await Task.sleep(for: Self.heartbeat)
                    hub.sendHeartbeat()
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func server() throws -> any Service {
        let http = LocalHTTP(
            entrance: SocketEntrance(),
            policy: policy,
            version: version,
            traffic: traffic,
            logger: logger
        )
        let routes = LocalRoutes(backend: backend, hub: hub)
        let display = DisplayRoutes(feed: display, source: .socket)
        return try http.server(
            at: .unixDomainSocket(path: path),
            connectionLimit: Self.connectionLimit,
            routes: { table in
                routes.add(to: table)
                display.add(to: table, level: .observer)
            }
        ) { [path, policy, groupID, logger, onReady] _ in
            Self.open(path: path, to: policy(), groupID: groupID, logger: logger)
            await onReady()
        }
    }

    /// Sets the socket's group and mode. The kernel then admits only the daemon's user and the
    /// group; other users cannot fill the socket's queue. If the policy lists single users, the
    /// mode admits everybody, because these users may be outside the group.
    package static func open(
        path: String,
        to policy: AccessPolicy,
        groupID: UInt32?,
        logger: Logger
    ) {
        if let groupID, chown(path, uid_t.max, groupID) != 0 {
            let reason = String(cString: strerror(errno))
            logger.warning(
                "The socket could not be given to its group",
                metadata: ["path": "\(path)", "reason": "\(reason)"]
            )
        }
        let mode: mode_t = policy.listsUsers ? 0o666 : groupID == nil ? 0o600 : 0o660
        if chmod(path, mode) != 0 {
            let reason = String(cString: strerror(errno))
            logger.warning(
                "The socket could not be opened to others",
                metadata: ["path": "\(path)", "reason": "\(reason)"]
            )
        }
    }
}
