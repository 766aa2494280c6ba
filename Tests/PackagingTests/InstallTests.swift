import Foundation
import TestSupport
import Testing

/// Tests of `make install` with the programs of this build.
@Suite("Installation")
struct InstallTests {
    private static let files: [String: Int] = [
        "usr/bin/gotchud": 0o755,
        "usr/bin/gotchu-ctl": 0o755,
        "usr/bin/gotchu-server": 0o755,
        "usr/lib/systemd/system/gotchud.service": 0o644,
        "usr/lib/systemd/system/gotchu-server-payouts.service": 0o644,
        "usr/lib/systemd/system/gotchu-server-payouts.timer": 0o644,
        "usr/lib/systemd/system/gotchu-server.service": 0o644,
        "usr/lib/sysusers.d/gotchu.conf": 0o644,
        "usr/lib/sysusers.d/gotchu-server.conf": 0o644,
        "usr/share/dbus-1/system.d/org.gotchu.gotchud.conf": 0o644,
        "usr/share/bash-completion/completions/gotchu-ctl": 0o644,
        "usr/share/bash-completion/completions/gotchud": 0o644,
        "usr/share/zsh/vendor-completions/_gotchu-ctl": 0o644,
        "usr/share/zsh/vendor-completions/_gotchu-server": 0o644,
        "usr/share/fish/vendor_completions.d/gotchu-ctl.fish": 0o644,
        "usr/share/fish/vendor_completions.d/gotchu-server.fish": 0o644,
        "usr/share/doc/gotchu/examples/hook.service": 0o644,
        "usr/share/doc/gotchu/examples/management.conf": 0o644,
        "usr/share/doc/gotchu/examples/till.mjs": 0o644,
        "usr/share/doc/gotchu/examples/till.py": 0o644,
        "usr/share/doc/gotchu-server/alerts.rules.yml": 0o644,
        "usr/share/doc/gotchu-server/operations.md": 0o644,
        "usr/share/doc/gotchu-server/contests.md": 0o644,
        "usr/share/doc/gotchu-server/web.md": 0o644,
        "usr/share/doc/gotchu/local-api.md": 0o644,
        "usr/share/man/man1/gotchu-ctl.1": 0o644,
        "usr/share/man/man5/gotchud.json.5": 0o644,
        "usr/share/man/man8/gotchud.8": 0o644,
        "usr/share/man/man8/gotchu-server.8": 0o644,
        "etc/gotchu/gotchud.json": 0o644,
        "etc/gotchu/gotchu-server.env": 0o600,
    ]

    @Test("Every file is installed, and an existing configuration stays unchanged")
    func install() async throws {
        let folder = try TemporaryFolder()
        try await install(into: folder, prefix: "/usr")
        for (file, mode) in Self.files {
            try expect(file, in: folder, hasMode: mode)
        }
        for unit in UnitTests.units {
            let program = try programOf(unit: unit, in: "\(folder.path)/usr/lib/systemd/system")
            #expect(
                FileManager.default.isExecutableFile(atPath: folder.path + program),
                "\(program)"
            )
        }
        let check = try await Repository.run(
            "\(folder.path)/usr/bin/gotchud",
            "--check-config",
            "--config",
            "\(folder.path)/etc/gotchu/gotchud.json"
        )
        #expect(check.status == 0, "\(check.text)")

        let mine = try folder.write(#"{"radio": "bluez:hci7"}"#, to: "etc/gotchu/gotchud.json")
        try await install(into: folder, prefix: "/usr")
        #expect(try String(contentsOfFile: mine, encoding: .utf8).contains("hci7"))
    }

    @Test("The display's files are installed only by their own command")
    func display() async throws {
        let folder = try TemporaryFolder()
        try await install(into: folder, prefix: "/usr")
        let policy = "\(folder.path)/etc/chromium/policies/managed/gotchu-display.json"
        #expect(!FileManager.default.fileExists(atPath: policy))
        let made = try await Repository.run(
            "make",
            "install-display",
            "DESTDIR=\(folder.path)",
            "PREFIX=/usr"
        )
        try #require(made.status == 0, "\(made.text)")
        let files = [
            "usr/lib/systemd/system/gotchu-display.service": 0o644,
            "usr/lib/sysusers.d/gotchu-display.conf": 0o644,
            "usr/share/doc/gotchu-display/display-package.md": 0o644,
            "usr/share/doc/gotchu-display/examples/weston.ini": 0o644,
            "usr/share/doc/gotchu-display/examples/screens": 0o755,
            "etc/chromium/policies/managed/gotchu-display.json": 0o644,
        ]
        for (file, mode) in files { try expect(file, in: folder, hasMode: mode) }
    }

    @Test("With another prefix, the unit is installed below it and starts the program there")
    func prefix() async throws {
        let folder = try TemporaryFolder()
        try await install(into: folder, prefix: "/opt/gotchu")
        let units = "\(folder.path)/opt/gotchu/lib/systemd/system"
        #expect(try programOf(unit: "gotchud", in: units) == "/opt/gotchu/bin/gotchud")
    }

    @Test(
        "A program is not linked with full Foundation or ICU",
        arguments: ["gotchud", "gotchu-ctl"]
    )
    func linkage(program: String) async throws {
        let libraries = try await Repository.run(
            "ldd",
            Program.folder.appendingPathComponent(program).path
        )
        #expect(libraries.status == 0)
        #expect(libraries.text.contains("libc.so"))
        #expect(!libraries.text.contains("libFoundation.so"), "\(libraries.text)")
        #expect(!libraries.text.contains("libFoundationNetworking"), "\(libraries.text)")
        #expect(!libraries.text.contains("ICU"), "\(libraries.text)")
        #expect(!libraries.text.contains("libicu"), "\(libraries.text)")
    }

    private func expect(_ file: String, in folder: TemporaryFolder, hasMode mode: Int) throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(file)")
        #expect(attributes[.posixPermissions] as? Int == mode, "\(file)")
        #expect((attributes[.size] as? Int ?? 0) > 0, "\(file)")
    }

    private func install(into folder: TemporaryFolder, prefix: String) async throws {
        let made = try await Repository.run(
            "make",
            "install",
            "DESTDIR=\(folder.path)",
            "PREFIX=\(prefix)",
            "BINARIES=\(Program.folder.path)"
        )
        try #require(made.status == 0, "\(made.text)")
    }

    private func programOf(unit: String, in folder: String) throws -> String {
        let text = try String(contentsOfFile: "\(folder)/\(unit).service", encoding: .utf8)
        return String(try #require(text.firstMatch(of: /ExecStart=(\S+)/)).1)
    }
}
