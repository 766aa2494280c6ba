import Glibc
import HummingbirdCore
package import Logging
import ServiceLifecycle

/// The daemon's HTTP API on a Unix socket.
///
/// Must run while the process holds the path's `SocketLock` and has a umask of 077: the mode is
/// widened only once the socket is bound. If the policy lists users, everybody may connect, and the
/// policy checks the credentials that the kernel reports: a mode cannot express a list of users.
package struct LocalServer: Service {
    /// The maximum number of connections; more wait in the kernel's queue.
    package static let connectionLimit = 640
    /// The number of connections reserved for owners, so that other users cannot shut them out.
    static let ownerReserve = 64
    /// The interval of the heartbeat to each reader of events.
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
    ///   - groupID: The socket's group; clients read it from the socket.
    ///   - policy: Returns the current policy; called for each connection and each request.
    ///   - traffic: Counts connections and replies, and limits the connections.
    ///   - onReady: Called once, when clients can connect to the socket.
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

    /// Sets the socket's group and mode. Only the daemon's user and the group may connect: the
    /// kernel keeps out all others, who could fill its queue. If the policy lists users, who may be
    /// outside the group, everybody may connect.
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
