package import Logging
package import ServiceLifecycle

/// A server on a port. One that is taken does not stop the daemon: it is tried again.
package struct PortService: Service {
    private static let retryInterval: Duration = .seconds(5)

    private let address: LoopbackAddress
    private let failure: Logger.Message
    private let logger: Logger
    private let server: @Sendable () throws -> any Service

    /// - Parameters:
    ///   - failure: The sentence that is logged once, when the port cannot be served.
    ///   - server: Makes a server that ends when the port cannot be served.
    package init(
        address: LoopbackAddress,
        failure: Logger.Message,
        logger: Logger,
        server: @escaping @Sendable () throws -> any Service
    ) {
        self.address = address
        self.failure = failure
        self.logger = logger
        self.server = server
    }

    package func run() async throws {
        var isTold = false
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            do {
                return try await server().run()
            } catch {
                if !isTold {
                    logger.error(
                        failure,
                        metadata: ["address": "\(address)", "reason": "\(error)"]
                    )
                }
                isTold = true
            }
            // Nothing tells that a port is free again.
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.retryInterval) }
        }
    }
}
