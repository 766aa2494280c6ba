import Foundation
import TestSupport
import Testing

/// Tests of our units with systemd's own tools.
@Suite("The units of systemd")
struct UnitTests {
    static let units = ["gotchud", "gotchu-server"]

    @Test(
        "Every line of a unit is accepted by systemd",
        arguments: units + ["gotchu-hook", "gotchu-server-payouts"]
    )
    func verify(unit: String) async throws {
        let folder = try TemporaryFolder()
        // The unit's programs are not installed, so the programs of this build replace them.
        let text = try Repository.text("systemd/\(unit).service")
            .replacing("=/usr/bin/", with: "=\(Program.folder.path)/")
        let file = try folder.write(text, to: "\(unit).service")
        let verdict = try await Repository.run("systemd-analyze", "verify", "--man=no", file)
        #expect(verdict.status == 0)
        #expect(verdict.text == "")
    }

    @Test("The drop-in for the management socket grants only CAP_NET_ADMIN")
    func dropIn() async throws {
        let folder = try TemporaryFolder()
        let text = try Repository.text("systemd/gotchud.service")
            .replacing("=/usr/bin/", with: "=\(Program.folder.path)/")
        let file = try folder.write(text, to: "gotchud.service")
        try FileManager.default.createDirectory(
            atPath: folder.path + "/gotchud.service.d",
            withIntermediateDirectories: true
        )
        let dropIn = try Repository.text("systemd/gotchud-management.conf")
        _ = try folder.write(dropIn, to: "gotchud.service.d/management.conf")
        let verdict = try await Repository.run("systemd-analyze", "verify", "--man=no", file)
        #expect(verdict.status == 0 && verdict.text == "", "\(verdict.text)")
        let settings = dropIn.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(
            settings == [
                "[Service]", "CapabilityBoundingSet=CAP_NET_ADMIN",
                "AmbientCapabilities=CAP_NET_ADMIN",
            ]
        )
        // Without the drop-in, the unit grants no capability.
        #expect(text.contains("\nCapabilityBoundingSet=\nAmbientCapabilities=\n"))
    }

    @Test("An unknown value in a unit is reported by systemd, so the other tests of units can fail")
    func verifyNotices() async throws {
        let folder = try TemporaryFolder()
        let text = try Repository.text("systemd/gotchud.service")
            .replacing("Type=notify", with: "Type=notify-sometimes")
            .replacing("=/usr/bin/", with: "=\(Program.folder.path)/")
        let file = try folder.write(text, to: "gotchud.service")
        let verdict = try await Repository.run("systemd-analyze", "verify", "--man=no", file)
        #expect(verdict.text.contains("notify-sometimes"))
    }

    @Test("The exposure of a unit is at most 2.0", arguments: units)
    func exposure(unit: String) async throws {
        let verdict = try await Repository.run(
            "systemd-analyze",
            "security",
            "--offline=true",
            "--no-pager",
            "systemd/\(unit).service"
        )
        let level = try #require(
            verdict.text.firstMatch(of: /Overall exposure level for \S+: ([0-9.]+)/)
        )
        #expect(try #require(Double(level.1)) <= 2.0, "\(verdict.text)")
    }

    @Test(
        "A unit has the settings that its program needs, and no setting that harms the program",
        arguments: units
    )
    func traps(unit: String) throws {
        let lines = try Repository.text("systemd/\(unit).service").split(separator: "\n")
        let settings = Set(lines.map(String.init))
        // systemd 252 does not know notify-reload, and would treat the unit as Type=simple.
        #expect(settings.contains("Type=notify"))
        // libdispatch calls setpriority(2). It is allowed by name, and no call kills the program.
        #expect(settings.contains("SystemCallFilter=setpriority"))
        #expect(settings.contains("SystemCallErrorNumber=EPERM"))
        // A wrong command line or configuration, or an unreadable journal, must not cause restarts.
        let fatal = "64 65 78"
        #expect(settings.contains("RestartPreventExitStatus=\(fatal)"))
        // A dependency may become available only long after the boot.
        #expect(settings.contains("StartLimitIntervalSec=0"))
        if unit == "gotchu-server" {
            #expect(settings.contains("After=network-online.target postgresql.service"))
        }
        // All users can read command lines, and a URL may contain a password.
        #expect(!lines.contains { $0.hasPrefix("ExecStart=") && $0.contains("$") })
        if unit == "gotchud" {
            // gotchud must start on a machine without a network.
            #expect(!lines.contains { !$0.hasPrefix("#") && $0.contains("network-online") })
            // In a user namespace, every client of the socket would have the user nobody.
            #expect(!lines.contains { $0.hasPrefix("PrivateUsers=") })
            // gotchud reads the kernel's counts of an adapter through AF_BLUETOOTH. The counts
            // show that the adapter is unresponsive.
            let families =
                "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK AF_BLUETOOTH"
            #expect(settings.contains(families))
            #expect(settings.contains("RuntimeDirectory=gotchu"))
            #expect(settings.contains("StateDirectory=gotchu"))
        }
        // A credential with a path must exist. A credential of systemd's store may be missing.
        for line in lines where line.hasPrefix("LoadCredential=") {
            #expect(!line.contains("/"), "\(line)")
        }
    }

    @Test("The users and groups that the units name are created")
    func users() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/etc",
            withIntermediateDirectories: true
        )
        let made = try await Repository.run(
            "systemd-sysusers",
            "--root=\(folder.path)",
            Repository.path("systemd/gotchu.sysusers.conf"),
            Repository.path("systemd/gotchu-server.sysusers.conf")
        )
        #expect(made.status == 0, "\(made.text)")
        let users = try names(in: folder.path + "/etc/passwd")
        let groups = try names(in: folder.path + "/etc/group")
        for unit in Self.units {
            for line in try Repository.text("systemd/\(unit).service").split(separator: "\n") {
                if let user = line.wholeMatch(of: /User=(.*)/) { #expect(users.contains(user.1)) }
                if let group = line.wholeMatch(of: /Group=(.*)/) {
                    #expect(groups.contains(group.1))
                }
            }
        }
    }

    private func names(in path: String) throws -> Set<Substring> {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return Set(text.split(separator: "\n").compactMap { $0.split(separator: ":").first })
    }
}
