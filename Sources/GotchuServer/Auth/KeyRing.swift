internal import AsyncHTTPClient
internal import GotchuCore
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// The issuer's current keys, fetched periodically and when a token has an unknown key id.
///
/// Anyone can send unknown key ids, so they cause at most one fetch a minute, one at a time;
/// waiting callers share it. After a failed fetch the old keys stay.
final class KeyRing: Service {
    /// The shortest time between two fetches, however many keys are requested.
    static let minimumInterval: Duration = .seconds(60)
    /// The longest time between two fetches, and so, roughly and while fetches succeed, the longest
    /// time that a revoked key stays accepted.
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

    /// Returns the key with this id. If it is unknown, the set is fetched, unless that is too soon.
    func key(id: String) async -> VerificationKey? {
        if let key = state.withLock({ $0.keys[id] }) { return key }
        guard let fetch = fetch() else { return nil }
        await fetch.value
        return state.withLock { $0.keys[id] }
    }

    /// Fetches the set when it is due, checking once a minute, until shutdown.
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

    /// Returns the running fetch, or starts one; `nil` if that is too soon.
    private func fetch() -> Task<Void, Never>? {
        let now = clock()
        return state.withLock { state in
            if let fetch = state.fetch { return fetch }
            if let startedAt = state.startedAt, now - startedAt < Self.minimumInterval {
                return nil
            }
            state.startedAt = now
            // Not a child of the caller: cancelling one caller must not cancel others' fetch.
            // SAFETY: owned by the state until it ends, which the time limit of a fetch bounds.
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
