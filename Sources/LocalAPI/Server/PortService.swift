package import Logging
package import ServiceLifecycle

/// A server on a port. If the port is in use, the daemon runs on and retries.
package struct PortService: Service {
    private static let retryInterval: Duration = .seconds(5)

    private let address: LoopbackAddress
    private let failure: Logger.Message
    private let logger: Logger
    private let server: @Sendable () throws -> any Service

    /// - Parameters:
    ///   - failure: The message that is logged once if the port cannot be served.
    ///   - server: Creates a server that throws if the port cannot be served.
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
            // Nothing announces that a port is free again: retry.
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.retryInterval) }
        }
    }
}
