import Glibc
import LocalAPI
import Logging
import Synchronization

/// The access policy in force; a reload replaces it.
final class AccessControl: Sendable {
    private let current: Mutex<AccessPolicy>
    private let hub: EventHub
    private let display: DisplayFeed
    private let logger: Logger

    /// - Parameters:
    ///   - hub: The hub of the event readers. A change of the policy ends them.
    ///   - display: The feed of the display's readers. A change of the policy ends them.
    init(
        _ configuration: DaemonConfiguration,
        hub: EventHub,
        display: DisplayFeed,
        logger: Logger
    ) {
        self.logger = logger
        current = Mutex(Self.policy(configuration))
        self.hub = hub
        self.display = display
    }

    var policy: AccessPolicy { current.withLock(\.self) }

    func update(_ configuration: DaemonConfiguration) {
        let policy = Self.policy(configuration)
        let isChange = current.withLock { current in
            defer { current = policy }
            return current != policy
        }
        guard isChange else { return }
        LocalServer.open(
            path: configuration.socketPath,
            to: policy,
            groupID: AccessPolicy.groupID(named: configuration.group),
            logger: logger
        )
        // Ended readers reconnect and are checked against the new policy.
        hub.endReaders()
        display.endReaders()
    }

    private static func policy(_ configuration: DaemonConfiguration) -> AccessPolicy {
        AccessPolicy(
            ownerUserIDs: [0, geteuid()],
            viewerUserIDs: configuration.viewerUserIDs.union(
                AccessPolicy.userID(named: DaemonConfiguration.displayUser).map { [$0] } ?? []
            ),
            observerUserIDs: configuration.observerUserIDs,
            cashierUserIDs: configuration.cashierUserIDs,
            cashierGroup: configuration.group,
            spenderUserIDs: configuration.spenderUserIDs
        )
    }
}
