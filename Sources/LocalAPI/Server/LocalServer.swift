import Glibc
import GotchuCore
import HTTPTypes
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle

/// The daemon's HTTP API on a Unix socket.
///
/// Must be made while the caller holds the path's `SocketLock` and has a umask of 077: the socket
/// is opened to its group only once it is bound.
package struct LocalServer: Service {
    /// How many connections there can be at once; more wait in the kernel's queue.
    static let connectionLimit = 640
    /// How many files it may hold open: each reader of events has its connection twice.
    package static let fileLimit = connectionLimit + EventHub.readerLimit
    /// How long a connection may be silent before its first request and between requests.
    static let idleLimit: TimeAmount = .seconds(10)
    /// The largest request head, in bytes.
    static let headLimit = 16 * 1024

    /// After this long each reader of events is written a sign of life.
    static let heartbeat: Duration = .seconds(15)

    private let path: String
    private let groupID: UInt32?
    private let policy: @Sendable () -> AccessPolicy
    private let backend: any LocalBackend
    private let hub: EventHub
    private let version: String
    private let traffic: LocalTraffic
    private let onReady: @Sendable () async -> Void
    private let logger: Logger

    /// - Parameters:
    ///   - groupID: The group that may open the socket, beside its owner.
    ///   - policy: Asked at each request who may do what.
    ///   - traffic: Counts the replies.
    ///   - onReady: Called once, when the socket can be connected to.
    package init(
        path: String,
        groupID: UInt32?,
        policy: @escaping @Sendable () -> AccessPolicy,
        backend: any LocalBackend,
        hub: EventHub,
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
        self.version = version
        self.traffic = traffic
    }

    package func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server().run() }
            group.addTask { await hub.run() }
            group.addTask {
                while true {
                    try await Task.sleep(for: Self.heartbeat)
                    hub.beat()
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Hummingbird's server without its application, which wakes each second to know the date.
    private func server() throws -> any Service {
        let router = Router(context: LocalContext.self)
        router.add(middleware: Gatekeeper(policy: policy, version: version, traffic: traffic))
        LocalRoutes(backend: backend, hub: hub).add(to: router)
        var quiet = logger
        // Hummingbird tells of each start and connection at info; the daemon says what matters
        // itself.
        quiet.logLevel = .warning
        let builder = HTTPServerBuilder.http1(
            configuration: .init(
                additionalChannelHandlers: [CrowdHandler(traffic: traffic)],
                idleTimeout: Self.idleLimit,
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: Self.headLimit,
                    maxHeaderListSize: Self.headLimit,
                    maxHeaderFieldCount: 100
                )
            )
        )
        let responder = router.buildResponder()
        return try builder.buildServer(
            configuration: ServerConfiguration(
                address: .unixDomainSocket(path: path),
                availableConnectionsDelegate: MaximumAvailableConnections(Self.connectionLimit)
            ),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: quiet,
            responder: { [quiet] request, writer, channel in
                let source = ApplicationRequestContextSource(channel: channel, logger: quiet)
                let context = LocalContext(source: source)
                // RFC 9110, 10.1.1: whoever asks so sends no body before it is answered.
                if request.headers[.expect]?.lowercased() == "100-continue" {
                    try await writer.writeInformationalHead(HTTPResponse(status: .continue))
                }
                var response = try await responder.respond(to: request, context: context)
                response.headers[.date] = Timestamp.now.httpDate
                do {
                    try await writer.write(response: response.head, body: response.body)
                } catch is HTTPParserError {
                    // What follows a reply that has begun is no further reply.
                    throw ChannelError.inputClosed
                }
            },
            onServerRunning: { [path, groupID, logger, onReady] _ in
                Self.openToGroup(path: path, groupID: groupID, logger: logger)
                await onReady()
            }
        )
    }

    private static func openToGroup(path: String, groupID: UInt32?, logger: Logger) {
        if let groupID, chown(path, uid_t.max, groupID) != 0 {
            let reason = String(cString: strerror(errno))
            logger.warning(
                "The socket could not be given to its group",
                metadata: ["path": "\(path)", "reason": "\(reason)"]
            )
        }
        // Without a group of ours it would be open to whatever group the daemon runs in.
        if chmod(path, groupID == nil ? 0o600 : 0o660) != 0 {
            let reason = String(cString: strerror(errno))
            logger.warning(
                "The socket could not be opened to its group",
                metadata: ["path": "\(path)", "reason": "\(reason)"]
            )
        }
    }
}
