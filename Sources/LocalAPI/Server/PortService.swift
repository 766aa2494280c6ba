package import Logging
package import ServiceLifecycle

/// A server on a port. If the port cannot be served, the daemon continues and retries.
package struct PortService: Service {
    private static let retryInterval: Duration = .seconds(5)

    private let address: LoopbackAddress
    private let failure: Logger.Message
    private let logger: Logger
    private let onFailure: @Sendable () -> Void
    private let server: @Sendable () throws -> any Service

    /// - Parameters:
    ///   - failure: The message that is logged if the port cannot be served. It is logged once.
    ///   - onFailure: Called after each attempt at which the port could not be served.
    ///   - server: Creates a server that throws if the port cannot be served.
    package init(
        address: LoopbackAddress,
        failure: Logger.Message,
        logger: Logger,
        onFailure: @escaping @Sendable () -> Void,
        server: @escaping @Sendable () throws -> any Service
    ) {
        self.address = address
        self.failure = failure
        self.logger = logger
        self.onFailure = onFailure
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
                onFailure()
            }
            // No event reports that a port is free again.
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.retryInterval) }
        }
    }
}
