import Glibc
import LocalAPI
import TestSupport
import Testing

@Suite("Who may do what")
struct AccessPolicyTests {
    private func peer(_ user: UInt32, group: UInt32 = 4_000_000) -> Peer {
        Peer(processID: 1, userID: user, groupID: group)
    }

    @Test("owners do everything, strangers only look")
    func ends() {
        let policy = AccessPolicy(ownerUserIDs: [0])
        #expect(policy.levels(of: peer(0)) == Set(AccessLevel.allCases))
        #expect(policy.levels(of: peer(4_000_001)) == [.observer])
    }

    @Test("asking for money and spending it are two rights")
    func separate() {
        let policy = AccessPolicy(
            ownerUserIDs: [0],
            cashierUserIDs: [4_000_001],
            cashierGroupID: 4_000_009,
            spenderUserIDs: [4_000_002]
        )
        #expect(policy.levels(of: peer(4_000_001)) == [.observer, .cashier])
        #expect(policy.levels(of: peer(4_000_002)) == [.observer, .spender])
        #expect(policy.levels(of: peer(4_000_003, group: 4_000_009)) == [.observer, .cashier])
    }

    @Test("a supplementary group counts: the system's database is asked")
    func supplementary() throws {
        let root = try #require(AccessPolicy.groupID(named: "root"))
        let policy = AccessPolicy(ownerUserIDs: [], cashierGroupID: root)
        #expect(policy.levels(of: peer(0, group: 4_000_000)) == [.observer, .cashier])
        #expect(AccessPolicy.groupID(named: "no-such-group-here") == nil)
    }

    @Test("a socket path is served by one process at a time")
    func socketLock() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/g.sock"
        let first = try SocketLock(socketPath: path)
        #expect(throws: SocketLock.Failure.inUse) { _ = try SocketLock(socketPath: path) }
        _ = consume first
        #expect(throws: Never.self) { _ = try SocketLock(socketPath: path) }
    }
}
