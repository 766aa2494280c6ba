import CLinux
import Glibc
import HummingbirdCore
package import Logging
import ServiceLifecycle

/// The daemon's HTTP API on a Unix socket.
///
/// The process must hold the path's `SocketLock` and have a umask of 077: more users are admitted
/// only after the socket is bound.
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

    /// - Throws: `SocketWatch.Lost` if the socket's file was removed or replaced. The next start of
    ///   the process recovers everything: the folder, the lock and the file.
    package func run() async throws {
        let watch = SocketWatch(path: path)
        defer { watch.end() }
        try await withGracefulShutdownHandler {
            try await serve(watch)
        } onGracefulShutdown: {
            watch.end()
        }
    }

    private func serve(_ watch: SocketWatch) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server(watch).run() }
            group.addTask {
                while true {
                    // The pause between two signs of life, at which the socket is looked at, too.
                    try await Task.sleep(for: Self.heartbeat)
                    hub.sendHeartbeat()
                    try watch.check()
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func server(_ watch: SocketWatch) throws -> any Service {
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
            at: .unixDomainSocket(path: watch.boundPath),
            connectionLimit: Self.connectionLimit,
            routes: { table in
                routes.add(to: table)
                display.add(to: table, level: .observer)
            }
        ) { [policy, groupID, logger, onReady] _ in
            Self.open(path: watch.boundPath, to: policy(), groupID: groupID, logger: logger)
            if watch.begin() { await onReady() }
        }
    }

    /// Admits the daemon's user, the group, and the users that the policy lists. The kernel refuses
    /// all others when they connect: they cannot fill the socket's queue.
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
        let users = policy.socketUserIDs.sorted()
        var error = clinux_admit(path, groupID == nil ? 0 : 1, users, users.count)
        if error == EOPNOTSUPP {
            // The policy checks the credentials of each connection.
            logger.warning(
                "Every user can connect to the socket: its file system has no lists of users",
                metadata: ["path": "\(path)"]
            )
            error = chmod(path, 0o666) == 0 ? 0 : errno
        }
        guard error != 0 else { return }
        let reason = String(cString: strerror(error))
        logger.warning(
            "The socket could not be opened to others",
            metadata: ["path": "\(path)", "reason": "\(reason)"]
        )
    }
}
