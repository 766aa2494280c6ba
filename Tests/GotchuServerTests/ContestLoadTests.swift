import Foundation
import TestSupport
import Testing

/// Tests of many users who enter many contests over many connections.
@Suite("Contests that many users enter")
struct ContestLoadTests {
    private static let connections = 64

    @Test(
        "All users enter all contests over many connections, and no cent is lost",
        arguments: DatabaseKind.all
    )
    func everybody(kind: DatabaseKind) async throws {
        // GOTCHU_TEST_EFFORT=40 or more gives 1,000 users and 100 contests.
        let (people, count) = (min(1_000, 25 * effort), min(100, 4 * effort))
        let rig = try await ContestRig(
            kind,
            opening: 500 * 100,
            more: ["--calls-per-second", "10000"]
        )
        let users = try await rig.users(people)
        var made: [String] = []
        for _ in 0..<count {
            made.append(try await rig.published(ContestRig.body(lockIn: .seconds(7_200))))
        }
        let contests = made
        let start = ContinuousClock.now
        let missing = try await withThrowingTaskGroup(of: [String].self) { group in
            for lane in 0..<Self.connections {
                group.addTask {
                    var missing: [String] = []
                    let joins = people * count
                    for number in stride(from: lane, to: joins, by: Self.connections) {
                        // Lanes with adjacent numbers mostly enter the same contest at once.
                        let (user, id) = (users[number % people], contests[number / people])
                        let key = ContestRig.key()
                        var reply = try await rig.join(id, by: user, key: key)
                        // Under this load an outcome can be unknown; a resend resolves it.
                        while reply.code == "TRY_AGAIN" {
                            reply = try await rig.join(id, by: user, key: key)
                        }
                        if reply.status != 200 { missing.append(reply.text) }
                    }
                    return missing
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let time = ContinuousClock.now - start
        print("\(kind): \(people * count) entries in \(time)")
        #expect(missing.isEmpty, "\(missing.count), such as \(missing.prefix(3))")
        for id in contests {
            #expect(try await rig.show(id).integer("entry_count") == Int64(people))
        }
        for user in users {
            #expect(try await rig.wire.balance(user) == 50_000 - 500 * Int64(count))
        }
        try await rig.verify()
    }
}
