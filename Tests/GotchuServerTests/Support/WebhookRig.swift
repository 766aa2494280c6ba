import GotchuCore
import Ledger
import LedgerStore
import Logging
import Outbox
import Payments
import ServiceLifecycle
import TestSupport

@testable import GotchuServer

/// A database with a payee, and a web server that receives webhooks about the payee's sessions.
struct WebhookRig: Sendable {
    let store: any Store
    let receiver: WebhookReceiver
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let folder: TemporaryFolder
    private let payee: UserID

    /// - Parameters:
    ///   - paths: The paths of the endpoints; each gets its own secret.
    ///   - events: The number of events in the outbox at the start.
    init(_ kind: DatabaseKind, _ paths: String..., events: Int = 0) async throws {
        folder = try TemporaryFolder()
        store =
            switch try kind.makeDatabase(in: folder) {
            case .sqlite(let path): try SQLiteStore(path: path)
            case .postgresql(let url): try PostgreSQLStore(url: url, logger: logger)
            }
        receiver = try await WebhookReceiver()
        let open = OpenAccount(login: "a", displayName: "a", opening: Money(minorUnits: 0))
        payee = open.user
        _ = try await store.commit(open)
        try await add(paths)
        try await makeEvents(events)
    }

    var outbox: Outbox { Outbox(store) }

    private func add(_ paths: [String]) async throws {
        var secrets: [String: String] = [:]
        for path in paths {
            let secret = WebhookSecret.random()
            secrets[path] = secret.text
            let endpoint = WebhookEndpoint(
                id: path,
                url: receiver.url(path),
                owner: nil,
                createdAt: .now
            )
            try await outbox.add(endpoint, secret: secret.bytes)
        }
        try receiver.setSecrets(secrets)
    }

    /// Creates sessions and cancels them; each session causes one event.
    func makeEvents(_ count: Int) async throws {
        for _ in 0..<count {
            let create = CreateSession(
                payee: payee,
                amount: Money(minorUnits: 5),
                memo: nil,
                reference: "order 7",
                lifetime: .seconds(300)
            )
            _ = try await store.commit(create)
            _ = try await store.commit(CancelSession(session: create.id, payee: payee))
        }
    }

    @discardableResult
    func withWorkers<Result: Sendable>(
        isDevelopment: Bool = true,
        count: Int = 1,
        interval: Duration = .milliseconds(100),
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        let services = (0..<count).map { _ in
            WebhookWorker(
                store: outbox,
                sender: WebhookSender(isDevelopment: isDevelopment),
                schedule: WebhookSchedule(firstDelay: .milliseconds(20)),
                interval: interval,
                logger: logger
            )
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: services, logger: logger)
        )
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let result = try await body()
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return result
        }
    }

    /// Waits until no delivery waits in the outbox.
    func waitUntilDelivered() async throws {
        try await eventually("no delivery waits in the outbox") {
            try await outbox.backlog(dead: false, limit: 1).isEmpty ? true : nil
        }
    }
}
