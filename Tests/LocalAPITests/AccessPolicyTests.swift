import Foundation
import GotchuAPI
import TestSupport
import Testing

@testable import LocalAPI

@Suite("The access levels of users")
struct AccessPolicyTests {
    private func peer(_ user: UInt32, group: UInt32 = 4_000_000) -> Peer {
        Peer(userID: user, groupID: group)
    }

    @Test("An owner has every access level, and an unknown user has none")
    func ends() {
        let policy = AccessPolicy(ownerUserIDs: [0], cashierGroup: "no-such-group-here")
        #expect(policy.levels(of: peer(0)) == Set(AccessLevel.allCases))
        #expect(policy.levels(of: peer(4_000_001)).isEmpty)
    }

    @Test("Reading, requesting payments and making payments are three separate rights")
    func separate() throws {
        let policy = AccessPolicy(
            ownerUserIDs: [0],
            observerUserIDs: [4_000_004],
            cashierUserIDs: [4_000_001],
            cashierGroup: "nogroup",
            spenderUserIDs: [4_000_002]
        )
        let group = try #require(AccessPolicy.groupID(named: "nogroup"))
        #expect(policy.levels(of: peer(4_000_001)) == [.viewer, .observer, .cashier])
        #expect(policy.levels(of: peer(4_000_002)) == [.viewer, .observer, .spender])
        #expect(policy.levels(of: peer(4_000_003, group: group)) == [.viewer, .observer, .cashier])
        #expect(policy.levels(of: peer(4_000_004)) == [.viewer, .observer])
    }

    @Test("A refusal says how the user can get the missing level")
    func advice() {
        let caller = peer(4_000_001)
        for (group, level, fix) in [
            ("nogroup", .observer, "sudo usermod -aG nogroup USER"),
            ("nogroup", .cashier, "sudo usermod -aG nogroup USER"),
            (
                "no-such-group-here", .observer,
                "Add the user id to cashier_uids (to request), spender_uids (to pay) or "
                    + "observer_uids (to read) in /etc/gotchu/gotchud.json, and: "
            ),
            ("no-such-group-here", .cashier, "Add the user id to cashier_uids in "),
            ("nogroup", .spender, "Add the user id to spender_uids in "),
            ("nogroup", .owner, "Run it again with sudo."),
        ] as [(String, AccessLevel, String)] {
            let policy = AccessPolicy(ownerUserIDs: [0], cashierGroup: group)
            let refusal = policy.refusal(of: level, to: caller)
            #expect(refusal.fix?.hasPrefix(fix) == true, "\(level): \(refusal.fix ?? "")")
            #expect(refusal.detail.lowercased().contains("user id 4000001"))
        }
    }

    @Test("A user's group in the system's database counts, even if the peer has another group")
    func supplementary() {
        let policy = AccessPolicy(ownerUserIDs: [], cashierGroup: "root")
        #expect(policy.levels(of: peer(0, group: 4_000_000)) == [.viewer, .observer, .cashier])
        #expect(AccessPolicy.groupID(named: "no-such-group-here") == nil)
    }

    @Test("A socket path has one lock at a time")
    func socketLock() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/g.sock"
        let first = try SocketLock(socketPath: path)
        #expect(throws: SocketLock.Failure.inUse) { _ = try SocketLock(socketPath: path) }
        _ = consume first
        #expect(throws: Never.self) { _ = try SocketLock(socketPath: path) }
    }

    @Test("A socket path that is a file, a folder or a broken link is refused, and the file stays")
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
