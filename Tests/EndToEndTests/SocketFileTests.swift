import Foundation
import GotchuAPI
import TestSupport
import Testing

@Suite("The file of the daemon's socket")
struct SocketFileTests {
    private func permissions(_ device: Device) throws -> Int? {
        let all = try FileManager.default.attributesOfItem(atPath: device.socket)
        return all[.posixPermissions] as? Int
    }

    @Test("The socket's mode admits its owner, and the group if it exists")
    func mode() async throws {
        let shop = try await Shop()
        for (group, mode) in [("no-such-group", 0o600), ("nogroup", 0o660)] {
            let file = try shop.folder.write("{\"group\": \"\(group)\"}", to: "\(group).json")
            let device = Device(name: group, shop: shop)
            try await device.start(extra: ["--config", file])
            #expect(try permissions(device) == mode, "\(group)")
        }
    }

    @Test(
        "The kernel lets only listed users connect, and a reload applies another list",
        .enabled(if: geteuid() == 0, "only root can become somebody else")
    )
    func listedUsers() async throws {
        let shop = try await Shop()
        let device = Device(name: "kiosk", shop: shop)
        let set = { (lists: String) in
            try shop.folder.write(#"{"group": "none", \#(lists)}"#, to: "kiosk.json")
        }
        let file = try set(#""observer_uids": [65001], "spender_uids": [65002]"#)
        try await device.start(extra: ["--config", file])
        for user in [65001, 65002] {
            #expect(try await device.curl(as: user, "/v1/status").contains("is_ready"), "\(user)")
        }
        // A user who is refused by the kernel takes no place in the queue of connections.
        #expect(try await device.refusals(of: 2_000, as: 65003) == 2_000)
        #expect(try await device.refusals(of: 1, as: 65003, group: 0) == 1)
        #expect(try await Metrics(of: device)["gotchu_local_refusals_total"] == 0)
        for (list, isAdmitted) in [
            ("\"cashier_uids\": [65003]", true), ("\"cashier_uids\": []", false),
        ] {
            _ = try set(list)
            try device.signal(SIGHUP)
            try await eventually("the new list applies") {
                let refusals = try await device.refusals(of: 1, as: 65003)
                return (refusals == 0) == isAdmitted ? true : nil
            }
            #expect(try await device.refusals(of: 1, as: 65001) == 1)
        }
        #expect(try permissions(device) == 0o600)
    }

    @Test("A daemon whose socket was removed or replaced ends with an error, and starts again")
    func lostSocket() async throws {
        let shop = try await Shop()
        let removed = try await shop.daemon("removed", at: "0,0")
        let replaced = try await shop.daemon("replaced", at: "0,0")
        try FileManager.default.removeItem(atPath: removed.socket)
        try FileManager.default.removeItem(atPath: replaced.socket)
        let other = try Program(
            "/usr/bin/python3",
            [
                "-c",
                "import socket, time; s = socket.socket(socket.AF_UNIX); "
                    + "s.bind('\(replaced.socket)'); s.listen(); "
                    + "print(1, flush=True); time.sleep(600)",
            ]
        )
        try await eventually("another program has the socket") { other.text.isEmpty ? nil : true }
        for device in [removed, replaced] {
            #expect(try await device.exitCode() == 74)
            // The other program's socket stays.
            let isThere = FileManager.default.fileExists(atPath: device.socket)
            #expect(isThere == (device.socket == replaced.socket))
            let log = try device.log()
            #expect(log.contains("\(device.socket) was removed or replaced"), "\(log)")
        }
        // A caller of its socket would wait for an answer.
        other.signal(SIGKILL)
        try await other.exitCode()
        for device in [removed, replaced] {
            try await device.start()
            let status = try await device.get("/v1/status", as: StatusReply.self)
            #expect(status.version.hasPrefix("0."))
        }
    }
}
