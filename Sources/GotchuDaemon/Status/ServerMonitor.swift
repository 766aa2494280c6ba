import Logging
import PaymentClient
import ServiceLifecycle
import ServiceProcess

/// Knows whether the payment server can be reached, by asking now and then.
actor ServerMonitor: Service {
    /// How often a server that answers is asked.
    static let interval: Duration = .seconds(30)
    /// How often one that does not is asked.
    static let outageInterval: Duration = .seconds(3)

    /// What is known of the server.
    struct Reachability: Equatable, Sendable {
        /// `nil` until it was first asked.
        var isReachable: Bool?
        var latency: Duration?
    }

    private let client: PaymentClient
    private let outages: AsyncStream<Void>
    private let onAnswer: @Sendable (Reachability) async -> Void
    private var failures: FailureLog

    /// - Parameter outages: An element whenever somebody else's call found the server away.
    init(
        client: PaymentClient,
        outages: AsyncStream<Void>,
        logger: Logger,
        onAnswer: @escaping @Sendable (Reachability) async -> Void
    ) {
        self.client = client
        self.outages = outages
        self.onAnswer = onAnswer
        failures = FailureLog(
            logger,
            level: .notice,
            failure: "The payment server cannot be reached",
            recovery: "The payment server can be reached again"
        )
    }

    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                while !Task.isCancelled {
                    await askUntilReachable()
                    // A server that goes away tells nobody: it is asked now and then.
                    try? await Task.sleep(for: Self.interval)
                }
            }
            group.addTask { [self] in
                for await _ in outages { await askUntilReachable() }
            }
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }

    private func askUntilReachable() async {
        while !Task.isCancelled, await !ask() {
            // Nor does one that is back.
            try? await Task.sleep(for: Self.outageInterval)
        }
    }

    private func ask() async -> Bool {
        let start = ContinuousClock.now
        let answer = await client.ping()
        let isReachable: Bool
        switch answer {
        // A server of the first contract has no /healthz: a definite refusal is an answer too.
        case .success, .refused, .unauthorized: isReachable = true
        case .unknown(let outage):
            isReachable = outage.code == .unreadable || outage.code == .busy
            // What the daemon's end cuts off is no answer.
            if !isReachable, !Task.isCancelled { failures.failed(outage) }
        }
        if isReachable { failures.worked() }
        let latency = isReachable ? start.duration(to: .now) : nil
        await onAnswer(Reachability(isReachable: isReachable, latency: latency))
        return isReachable
    }
}
