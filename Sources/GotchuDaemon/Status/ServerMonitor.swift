import GotchuAPI
import GotchuCore
import Logging
import PaymentClient
import ServiceLifecycle
import ServiceProcess
import Synchronization

/// The payment server's condition, from periodic probes and the outcomes of the daemon's calls.
actor ServerMonitor: Service {
    /// The interval between two probes of a server that works.
    static let interval: Duration = .seconds(30)
    /// The interval between two probes of a server that does not work.
    static let outageInterval: Duration = .seconds(3)
    /// The interval between two probes, and the timeout of each, while a request is open.
    static let requestInterval: Duration = .seconds(5)
    /// The longest interval between two checks of the login. The status shows a revoked login
    /// within a minute. Each interval is shorter by a random part, so that the tills that start
    /// together do not call together.
    static let loginInterval: Duration = .seconds(48)

    /// The condition of the server as far as it is known.
    enum Condition: Equatable, Sendable {
        case notProbed
        /// The server reports that it is ready. Its answer took this time.
        case ready(latency: Duration)
        /// The server is not ready, or its condition is not known.
        case outage(Outage)
        /// The server reports that it is ready, but calls fail.
        case callsFail(Outage)
    }

    private let client: PaymentClient
    private let calls: ServerCallOutcomes
    private let isLoginRefused: @Sendable () -> Bool
    private let checkLogin: @Sendable () async -> Void
    private let hasOpenRequest: @Sendable () async -> Bool
    private let onChange: @Sendable (Condition) async -> Void
    private var failures: FailureLog
    /// The number of the newest probe.
    private var newest = 0

    /// - Parameters:
    ///   - client: A client whose outcomes are recorded in `calls`.
    ///   - isLoginRefused: Returns true if the server has refused the login. Each probe then sends
    ///     the login again: another program may have given that answer.
    ///   - checkLogin: Asks the server if it accepts the login, and records the answer.
    ///   - hasOpenRequest: Returns true while a request may be paid.
    ///   - onChange: Called with the condition after each probe.
    init(
        client: PaymentClient,
        calls: ServerCallOutcomes,
        isLoginRefused: @escaping @Sendable () -> Bool,
        checkLogin: @escaping @Sendable () async -> Void,
        hasOpenRequest: @escaping @Sendable () async -> Bool,
        logger: Logger,
        onChange: @escaping @Sendable (Condition) async -> Void
    ) {
        self.client = client
        self.calls = calls
        self.isLoginRefused = isLoginRefused
        self.checkLogin = checkLogin
        self.hasOpenRequest = hasOpenRequest
        self.onChange = onChange
        failures = FailureLog(
            logger,
            level: .notice,
            failure: "The payment server cannot do its work",
            recovery: "The payment server works again"
        )
    }

    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                while !Task.isCancelled {
                    await probeUntilReady()
                    // A server that fails sends no event. It is probed at intervals.
                    try? await Task.sleep(for: Self.interval)
                }
            }
            group.addTask { [self] in
                while !Task.isCancelled {
                    await checkLogin()
                    let interval = Self.loginInterval * Double.random(in: 0.7...1)
                    try? await Task.sleep(for: interval)
                }
            }
            group.addTask { [self] in
                for await _ in calls.outages { await probeUntilReady() }
            }
            group.addTask { [self] in
                for await _ in calls.openings {
                    while !Task.isCancelled, await hasOpenRequest() {
                        // A customer waits and must see soon that the server does not answer.
                        try? await Task.sleep(for: Self.requestInterval)
                        await probeUntilReady()
                    }
                }
            }
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }

    private func probeUntilReady() async {
        while !Task.isCancelled, await !probeAndReport() {
            // A server that recovers sends no event. It is probed at intervals.
            try? await Task.sleep(for: Self.outageInterval)
        }
    }

    private func probe() async -> Answer<Void> {
        guard await hasOpenRequest() else { return await client.ping() }
        do {
            return try await withTimeout(Self.requestInterval) { [client] in await client.ping() }
        } catch {
            return .unknown(Outage(.timedOut))
        }
    }

    /// - Returns: True if the server is ready or the result is ignored; otherwise the next probe is
    ///   due soon.
    private func probeAndReport() async -> Bool {
        newest += 1
        let number = newest
        let start = ContinuousClock.now
        let condition: Condition
        switch await probe() {
        case .refused(let problem) where problem.errorCode != .notFound:
            // 404 is a server with the first version of the API. Any other refusal is from another
            // program.
            condition = .outage(Outage(.unreadable, underlying: problem.code))
        case .unauthorized(let problem):
            condition = .outage(Outage(.unreadable, underlying: problem.code))
        case .success, .refused:
            let latency = start.duration(to: .now)
            // Only a call can show that calls work again.
            if calls.areFailing || isLoginRefused() { _ = await client.wallet() }
            condition = calls.failure.map(Condition.callsFail) ?? .ready(latency: latency)
        case .unknown(let outage): condition = .outage(outage)
        }
        // A probe that the daemon's stop has cancelled is ignored, and so is one that is not the
        // newest.
        guard !Task.isCancelled, number == newest else { return true }
        await onChange(condition)
        switch condition {
        case .notProbed, .ready:
            failures.recordSuccess()
            return true
        case .outage(let outage), .callsFail(let outage):
            failures.recordFailure(outage)
            return false
        }
    }
}

/// The outcomes of calls to the payment server. Safe to use from any number of tasks.
final class ServerCallOutcomes: Sendable {
    /// The number of failed calls in a row from which calls count as failing.
    static let failureLimit = 3

    private struct State {
        var count = 0
        var last: Outage?
    }

    private let state = Mutex(State())
    /// Yields an element whenever a call has failed.
    let outages: AsyncStream<Void>
    private let outage: AsyncStream<Void>.Continuation
    /// Yields an element whenever a request was opened.
    let openings: AsyncStream<Void>
    private let opening: AsyncStream<Void>.Continuation

    init() {
        (outages, outage) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (openings, opening) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Records the outcome of a call.
    ///
    /// - Parameter outage: The reason of the failure; `nil` if the server has answered the call.
    func record(_ outage: Outage?) {
        // If a call was not sent, or the server is busy or limits calls, that says nothing of the
        // server's condition.
        if let outage, [.otherUser, .busy, .limited].contains(outage.code) { return }
        state.withLock { state in
            state.count = outage == nil ? 0 : state.count + 1
            state.last = outage
        }
        if outage != nil { self.outage.yield() }
    }

    func requestOpened() { opening.yield() }

    var areFailing: Bool { failure != nil }

    /// The last outage if at least `failureLimit` calls in a row have failed; otherwise `nil`.
    var failure: Outage? {
        state.withLock { $0.count >= Self.failureLimit ? $0.last : nil }
    }
}
