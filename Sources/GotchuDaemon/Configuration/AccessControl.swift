import Glibc
import LocalAPI
import Logging
import Synchronization

/// The access policy in force; a reload replaces it.
final class AccessControl: Sendable {
    private let current: Mutex<AccessPolicy>
    private let hub: EventHub
    private let logger: Logger

    /// - Parameter hub: Whose readers were let in by the policy that was in force when they came.
    init(_ configuration: DaemonConfiguration, hub: EventHub, logger: Logger) {
        self.logger = logger
        current = Mutex(Self.policy(configuration))
        self.hub = hub
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
        // Who may still read comes back, and is judged anew.
        hub.endReaders()
    }

    private static func policy(_ configuration: DaemonConfiguration) -> AccessPolicy {
        AccessPolicy(
            ownerUserIDs: [0, geteuid()],
            observerUserIDs: configuration.observerUserIDs,
            cashierUserIDs: configuration.cashierUserIDs,
            cashierGroup: configuration.group,
            spenderUserIDs: configuration.spenderUserIDs
        )
    }
}
