import HTTPTypes
import HummingbirdCore
package import LocalAPI
package import Logging
import NIOCore
import Pages
import ServiceLifecycle

/// A page that gotchud serves to browsers on this machine. Each page has its own port: browsers
/// isolate the origins of different ports.
package enum Screen: Sendable {
    /// The customer's display, which is read-only.
    case display
    /// The cashier's till.
    case till

    /// The access level that is needed to load the page.
    var level: AccessLevel {
        switch self {
        case .display: .viewer
        case .till: .cashier
        }
    }
}

/// The port of one screen.
///
/// A caller is identified by the user that the kernel reports for the connection, as on the socket.
/// A browser's page is identified by the headers that the browser sends (`SameOriginCheck`).
package struct ScreenServer: Service {
    /// The maximum number of connections. Further ones wait in the kernel's queue.
    static let connectionLimit = 36
    /// The limits of a screen's connections. A browser opens up to six, and one for the stream.
    /// Owners can connect even if all other users together have reached their limit.
    static let limits = LocalTraffic.Limits(user: 32, unauthorized: 4, common: 34)

    private let screen: Screen
    private let address: LoopbackAddress
    private let policy: @Sendable () -> AccessPolicy
    private let version: String
    private let routes: @Sendable (LevelledRouter) -> Void
    private let logger: Logger
    private let onServed: @Sendable (Bool) -> Void

    /// - Parameters:
    ///   - address: An IPv4 address, because the kernel is asked for callers of IPv4.
    ///   - policy: Returns the current policy; called for each connection and each request.
    ///   - onServed: Called with true when the port is served, and with false while it cannot be.
    ///   - routes: Adds the screen's routes in addition to its style sheets and scripts.
    package init(
        _ screen: Screen,
        at address: LoopbackAddress,
        policy: @escaping @Sendable () -> AccessPolicy,
        version: String,
        logger: Logger,
        onServed: @escaping @Sendable (Bool) -> Void,
        routes: @escaping @Sendable (LevelledRouter) -> Void
    ) {
        self.screen = screen
        self.address = address
        self.policy = policy
        self.version = version
        self.logger = logger
        self.onServed = onServed
        self.routes = routes
    }

    package func run() async throws {
        let service = PortService(
            address: address,
            failure: "A screen cannot be served",
            logger: logger,
            onFailure: { onServed(false) },
            server: server
        )
        try await service.run()
    }

    @Sendable private func server() throws -> any Service {
        let http = LocalHTTP(
            entrance: ScreenEntrance(lowestLevel: screen.level),
            policy: policy,
            version: version,
            traffic: LocalTraffic(Self.limits),
            logger: logger
        )
        return try http.server(
            at: .hostname(address.host, port: address.port),
            connectionLimit: Self.connectionLimit,
            routes: { table in
                table.add(screen.level, .get, "/") { _, _ in
                    Response(status: .seeOther, headers: [.location: "/\(screen)"])
                }
                addAssets(to: table)
                routes(table)
            },
            onServerRunning: { [address, screen, logger, onServed] channel in
                onServed(true)
                let port = channel.localAddress?.port ?? address.port
                logger.notice(
                    "A screen is served",
                    metadata: ["url": "http://\(address.host):\(port)/\(screen)"]
                )
            }
        )
    }

    private func addAssets(to table: LevelledRouter) {
        for asset in Asset.all.values {
            table.add(screen.level, .get, asset.path) { _, _ in .asset(asset) }
        }
    }
}
