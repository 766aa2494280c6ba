import Foundation
import TestSupport
import Testing

/// Tests of the package gotchu-display: its unit, its user and its policy for the browser.
@Suite("The customer's display on its screen")
struct DisplayTests {
    private static let unit = "systemd/gotchu-display.service"
    private static let policy = "systemd/gotchu-display.policy.json"

    @Test("The display's unit is accepted by systemd, and its exposure is at most 4.5")
    func verify() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            try Repository.text(Self.unit),
            to: "gotchu-display.service"
        )
        let verdict = try await Repository.run("systemd-analyze", "verify", "--man=no", file)
        #expect(verdict.status == 0 && verdict.text == "", "\(verdict.text)")
        let security = try await Repository.run(
            "systemd-analyze",
            "security",
            "--offline=true",
            "--no-pager",
            Self.unit
        )
        let level = try #require(
            security.text.firstMatch(of: /Overall exposure level for \S+: ([0-9.]+)/)
        )
        #expect(try #require(Double(level.1)) <= 4.5, "\(security.text)")
    }

    @Test("The unit limits the browser to localhost, and restarts it without a limit")
    func settings() throws {
        let settings = Set(try Repository.text(Self.unit).split(separator: "\n").map(String.init))
        for setting in [
            "User=gotchu-display", "IPAddressDeny=any", "IPAddressAllow=localhost",
            "Restart=always", "StartLimitIntervalSec=0", "NoNewPrivileges=yes",
        ] {
            #expect(settings.contains(setting), "\(setting)")
        }
        // Chromium's own sandbox needs namespaces, and must not be switched off.
        #expect(!settings.contains { $0.contains("no-sandbox") })
        #expect(!settings.contains { $0.hasPrefix("RestrictNamespaces=") })
    }

    @Test("The display's user is only in its own group and cannot log in")
    func user() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/etc",
            withIntermediateDirectories: true
        )
        let made = try await Repository.run(
            "systemd-sysusers",
            "--root=\(folder.path)",
            Repository.path("systemd/gotchu.sysusers.conf"),
            Repository.path("systemd/gotchu-display.sysusers.conf")
        )
        try #require(made.status == 0, "\(made.text)")
        let users = try String(contentsOfFile: folder.path + "/etc/passwd", encoding: .utf8)
        let user = try #require(
            users.split(separator: "\n").first { $0.hasPrefix("gotchu-display:") }
        )
        #expect(user.hasSuffix("/nologin"), "\(user)")
        let text = try String(contentsOfFile: folder.path + "/etc/group", encoding: .utf8)
        let groups = text.split(separator: "\n").map {
            $0.split(separator: ":", omittingEmptySubsequences: false)
        }
        let fields = user.split(separator: ":", omittingEmptySubsequences: false)
        let own = groups.filter { $0[2] == fields[3] }.map { $0[0] }
        #expect(own == ["gotchu-display"])
        let members = groups.filter { $0[3].split(separator: ",").contains("gotchu-display") }
        #expect(members.isEmpty, "\(members)")
    }

    @Test(
        "The unit's command shows the display under its policy, which blocks pages of other ports",
        .enabled(if: getuid() == 0),
        arguments: [true, false]
    )
    func kiosk(isUnderPolicy: Bool) async throws {
        let folder = try TemporaryFolder()
        let free = try folder.write("{}", to: "free.json")
        let attempt = try Program(
            "/usr/bin/unshare",
            [
                "--mount", "--net", "/usr/bin/python3", Repository.path("Tests/Python/kiosk.py"),
                Repository.path(Self.unit), isUnderPolicy ? Repository.path(Self.policy) : free,
                folder.path,
            ],
            environment: ["GOTCHU_TEST_PATIENCE": "\(patience)"]
        )
        let status = try await attempt.exitCode(within: .seconds(90))
        #expect(status == 0, "\(attempt.text)")
        let asked = try JSONDecoder().decode([String].self, from: Data(attempt.text.utf8))
        let own = ["7465/display", "7465/done", "7466/till"]
        // Without the policy, the browser also opens the page of another port, so the check of the
        // policy can fail.
        #expect(asked == (isUnderPolicy ? own : own + ["7467/other"]))
    }
}
