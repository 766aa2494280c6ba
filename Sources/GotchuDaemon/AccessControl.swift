import Glibc
import LocalAPI
import Synchronization

/// The access policy in force; a reload replaces it.
final class AccessControl: Sendable {
    private let current: Mutex<AccessPolicy>

    init(_ configuration: DaemonConfiguration) {
        current = Mutex(Self.policy(configuration))
    }

    var policy: AccessPolicy { current.withLock(\.self) }

    func update(_ configuration: DaemonConfiguration) {
        let policy = Self.policy(configuration)
        current.withLock { $0 = policy }
    }

    private static func policy(_ configuration: DaemonConfiguration) -> AccessPolicy {
        AccessPolicy(
            ownerUserIDs: [0, geteuid()],
            cashierUserIDs: configuration.cashierUserIDs,
            cashierGroupID: AccessPolicy.groupID(named: configuration.group),
            spenderUserIDs: configuration.spenderUserIDs
        )
    }
}
