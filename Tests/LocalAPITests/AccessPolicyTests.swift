import Foundation
import LocalAPI
import TestSupport
import Testing

@Suite("Who may do what")
struct AccessPolicyTests {
    private func peer(_ user: UInt32, group: UInt32 = 4_000_000) -> Peer {
        Peer(userID: user, groupID: group)
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

    @Test("what is no socket keeps its place, a link to nowhere too")
    func occupied() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("till notes", to: "file")
        let link = folder.path + "/link"
        #expect(symlink(folder.path + "/nowhere", link) == 0)
        for path in [file, link, folder.path] {
            #expect(throws: SocketLock.Failure.occupied) { _ = try SocketLock(socketPath: path) }
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "till notes")
    }
}
