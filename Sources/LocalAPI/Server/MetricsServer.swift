import GotchuAPI
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Serves only `GET /metrics` on a loopback port, for clients that cannot use a Unix socket.
///
/// Every user of this machine can read the metrics.
package struct MetricsServer: Service {
    /// The maximum number of connections. Further ones wait in the kernel's queue.
    private static let connectionLimit = 32
    /// The time after which a connection is closed, even during a request.
    private static let lifetime: TimeAmount = .seconds(10)

    private let address: LoopbackAddress
    private let page: @Sendable () async -> String
    private let logger: Logger
    private let onServed: @Sendable (Bool) -> Void

    /// - Parameters:
    ///   - onServed: Called with true when the port is served, and with false while it cannot be.
    ///   - page: Returns the current metrics in Prometheus's text format.
    package init(
        address: LoopbackAddress,
        logger: Logger,
        onServed: @escaping @Sendable (Bool) -> Void,
        page: @escaping @Sendable () async -> String
    ) {
        self.address = address
        self.logger = logger
        self.onServed = onServed
        self.page = page
    }

    package func run() async throws {
        let service = PortService(
            address: address,
            failure: "Metrics cannot be served",
            logger: logger,
            onFailure: { onServed(false) },
            server: server
        )
        try await service.run()
    }

    @Sendable
    private func server() throws -> any Service {
        var quiet = logger
        quiet.logLevel = .warning
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [LifetimeHandler(limit: Self.lifetime)]
        )
        let builder = HTTPServerBuilder { responder in
            LocalChannel(base: HTTP1Channel(responder: responder, configuration: configuration))
        }
        return try builder.buildServer(
            configuration: ServerConfiguration(
                address: .hostname(address.host, port: address.port),
                availableConnectionsDelegate: MaximumAvailableConnections(Self.connectionLimit)
            ),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: quiet,
            responder: { request, writer, _ in
                let response = await reply(to: request)
                try await writer.write(response: response.head, body: response.body)
            },
            onServerRunning: { [address, logger, onServed] channel in
                onServed(true)
                let port = channel.localAddress?.port ?? address.port
                logger.notice(
                    "Metrics are served",
                    metadata: ["url": "http://\(address.written):\(port)/metrics"]
                )
            }
        )
    }

    private func reply(to request: Request) async -> Response {
        guard LoopbackAddress.isNamed(by: request.head.authority),
            request.headers[.origin] == nil, request.headers[.referer] == nil
        else {
            let detail = "Requests from web pages, and to other names than localhost, are refused."
            return .problem(Problem(.browserRefused, detail: detail))
        }
        guard request.uri.path == "/metrics" else {
            return .problem(Problem(.notFound, detail: "There is only /metrics."))
        }
        switch request.method {
        case .get: return .metrics(await page())
        case .head: return Response.metrics(await page()).createHeadResponse()
        default:
            var response = Response.problem(
                Problem(.methodNotAllowed, detail: "This address takes GET, HEAD only.")
            )
            response.headers[.allow] = "GET, HEAD"
            return response
        }
    }
}

/// Closes a connection after a fixed time, even during a request.
///
/// One instance for each connection, used only on its event loop.
private final class LifetimeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let limit: TimeAmount
    private var end: Scheduled<Void>?

    init(limit: TimeAmount) {
        self.limit = limit
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        end = context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end?.cancel()
    }
}
