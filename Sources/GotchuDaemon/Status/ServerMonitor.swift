import PaymentClient
import ServiceLifecycle

/// Knows whether the payment server can be reached, by asking now and then.
struct ServerMonitor: Service {
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

    /// - Parameter outages: An element whenever somebody else's call found the server away.
    init(
        client: PaymentClient,
        outages: AsyncStream<Void>,
        onAnswer: @escaping @Sendable (Reachability) async -> Void
    ) {
        self.client = client
        self.outages = outages
        self.onAnswer = onAnswer
    }

    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled {
                    await askUntilReachable()
                    try? await Task.sleep(for: Self.interval)
                }
            }
            group.addTask {
                for await _ in outages { await askUntilReachable() }
            }
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }

    private func askUntilReachable() async {
        while !Task.isCancelled, await !ask() {
            try? await Task.sleep(for: Self.outageInterval)
        }
    }

    private func ask() async -> Bool {
        let start = ContinuousClock.now
        let answer = await client.ping()
        // A server of the first contract has no /healthz: a definite refusal is an answer too.
        let isReachable =
            switch answer {
            case .success, .refused, .unauthorized: true
            case .unknown(let outage): outage.code == .unreadable || outage.code == .busy
            }
        let latency = isReachable ? start.duration(to: .now) : nil
        await onAnswer(Reachability(isReachable: isReachable, latency: latency))
        return isReachable
    }
}
