import GotchuCore
import HTTPTypes
import Hummingbird
package import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP1
import NIOPosix
package import ServiceLifecycle

/// The daemon's HTTP/1.1 servers. They differ in their entrance and routes.
package struct LocalHTTP: Sendable {
    /// The idle timeout of a connection, before its first request and between requests.
    static let idleLimit: TimeAmount = .seconds(10)
    /// The limits of a request's head.
    static let heads = {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 16 * 1024
        limits.maxHeaderListSize = 16 * 1024
        limits.maxHeaderFieldCount = 100
        return limits
    }()
    /// The maximum number of unparsed bytes. The parser's own limits do not count white space.
    static let unparsedLimit = 64 * 1024

    private let entrance: any Entrance
    private let policy: @Sendable () -> AccessPolicy
    private let version: String
    private let traffic: LocalTraffic
    private let logger: Logger

    /// - Parameters:
    ///   - policy: Returns the current policy; called for each connection and each request.
    ///   - traffic: Counts the connections and replies.
    package init(
        entrance: any Entrance,
        policy: @escaping @Sendable () -> AccessPolicy,
        version: String,
        traffic: LocalTraffic,
        logger: Logger
    ) {
        self.entrance = entrance
        self.policy = policy
        self.version = version
        self.traffic = traffic
        // Hummingbird logs each start and connection at info. The daemon has its own log lines for
        // these.
        var quiet = logger
        quiet.logLevel = .warning
        self.logger = quiet
    }

    /// Creates Hummingbird's server without its application. The application would wake every
    /// second to update the date.
    ///
    /// - Parameter connectionLimit: The maximum number of connections. Further ones wait in the
    ///   kernel's queue.
    package func server(
        at address: BindAddress,
        connectionLimit: Int,
        routes: (LevelledRouter) -> Void,
        onServerRunning: @escaping @Sendable (any Channel) async -> Void
    ) throws -> any Service {
        let router = Router(context: LocalContext.self)
        router.add(
            middleware: AuthorizationMiddleware(
                entrance: entrance,
                policy: policy,
                version: version,
                traffic: traffic
            )
        )
        let table = LevelledRouter(router: router)
        routes(table)
        table.refuseOtherMethods()
        let responder = router.buildResponder()
        return try builder().buildServer(
            configuration: ServerConfiguration(
                address: address,
                availableConnectionsDelegate: MaximumAvailableConnections(connectionLimit)
            ),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger,
            responder: { [logger] request, writer, channel in
                let source = ApplicationRequestContextSource(channel: channel, logger: logger)
                let context = LocalContext(source: source)
                // The client waits for this reply before it sends the body (RFC 9110, 10.1.1).
                if request.headers[.expect]?.lowercased() == "100-continue" {
                    try await writer.writeInformationalHead(HTTPResponse(status: .continue))
                }
                var response = try await responder.respond(to: request, context: context)
                response.headers[.date] = Timestamp.now.httpDate
                do {
                    try await writer.write(response: response.head, body: response.body)
                } catch is HTTPParserError {
                    // The reply has begun, so an error reply cannot follow. The connection is
                    // closed.
                    throw ChannelError.inputClosed
                }
            },
            onServerRunning: onServerRunning
        )
    }

    private func builder() -> HTTPServerBuilder {
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                ConnectionLimitHandler(entrance: entrance, traffic: traffic, policy: policy),
                BodyDeadline(),
            ],
            idleTimeout: Self.idleLimit
        )
        return HTTPServerBuilder { responder in
            LocalChannel(base: HTTP1Channel(responder: responder, configuration: configuration))
        }
    }
}
