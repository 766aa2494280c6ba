internal import AsyncHTTPClient
internal import GotchuCore
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// The issuer's current keys. They are fetched periodically and when a token has an unknown key id.
///
/// Anyone can send unknown key ids. They cause at most one fetch a minute, and all callers that
/// wait share it. After a failed fetch the old keys stay.
final class KeyRing: Service {
    /// The shortest time between the starts of two fetches, for any number of requested keys.
    static let minimumInterval: Duration = .seconds(60)
    /// The time after which a fetch is due. If fetches succeed, a revoked key is accepted for about
    /// this time at most.
    static let maximumInterval: Duration = .seconds(15 * 60)

    private struct State {
        var keys = KeySet.empty
        var startedAt: MonotonicTime?
        var hasFailed = false
        var fetch: Task<Void, Never>?
    }

    private let load: @Sendable () async throws -> [UInt8]
    private let end: @Sendable () async -> Void
    private let clock: @Sendable () -> MonotonicTime
    private let logger: Logger
    private let state = Mutex(State())

    init(
        clock: @escaping @Sendable () -> MonotonicTime = { .now },
        logger: Logger,
        load: @escaping @Sendable () async throws -> [UInt8],
        end: @escaping @Sendable () async -> Void = {}
    ) {
        self.clock = clock
        self.logger = logger
        self.load = load
        self.end = end
    }

    convenience init(_ source: KeySource, logger: Logger) {
        let http = HTTPClient(configuration: KeySource.httpConfiguration)
        self.init(
            logger: logger,
            load: { try await source.load(http) },
            end: { try? await http.shutdown() }
        )
    }

    /// Returns the key with this id. If the id is unknown, fetches the set first. If the last fetch
    /// was within the minimum interval, returns `nil` instead.
    func key(id: String) async -> VerificationKey? {
        if let key = state.withLock({ $0.keys[id] }) { return key }
        guard let fetch = fetch() else { return nil }
        await fetch.value
        return state.withLock { $0.keys[id] }
    }

    /// Fetches the set at the start. Then checks once a minute and fetches the set if it is due or
    /// the last fetch failed. Runs until shutdown.
    func run() async {
        await cancelWhenGracefulShutdown { [self] in
            await fetch()?.value
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.minimumInterval)
                if isDue { await fetch()?.value }
            }
        }
        await state.withLock { $0.fetch }?.value
        await end()
    }

    private var isDue: Bool {
        let now = clock()
        return state.withLock { state in
            guard let startedAt = state.startedAt else { return true }
            return state.hasFailed || now - startedAt >= Self.maximumInterval
        }
    }

    /// Returns the running fetch, or starts one; `nil` if the last one started within the minimum
    /// interval.
    private func fetch() -> Task<Void, Never>? {
        let now = clock()
        return state.withLock { state in
            if let fetch = state.fetch { return fetch }
            if let startedAt = state.startedAt, now - startedAt < Self.minimumInterval {
                return nil
            }
            state.startedAt = now
            // The task is not a child of the caller: cancelling one caller must not cancel the
            // fetch for the others.
            // SAFETY: the state owns the task until it ends. A fetch has a time limit.
            let fetch = Task { await self.renew() }
            state.fetch = fetch
            return fetch
        }
    }

    private func renew() async {
        do {
            let keys = try await KeySet(try await load())
            state.withLock {
                $0.keys = keys
                $0.hasFailed = false
                $0.fetch = nil
            }
            logger.debug("The issuer's keys were fetched.", metadata: ["keys": "\(keys.count)"])
        } catch {
            state.withLock {
                $0.hasFailed = true
                $0.fetch = nil
            }
            logger.warning(
                "The issuer's keys cannot be fetched; the keys fetched before stay valid.",
                metadata: ["error": "\(error)"]
            )
        }
    }
}
