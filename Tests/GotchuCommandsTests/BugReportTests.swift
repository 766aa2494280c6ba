import Foundation
import TestSupport
import Testing

@Suite("A bug report contains diagnostics and no secrets")
struct BugReportTests {
    private func mode(of path: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return attributes[.posixPermissions] as? Int
    }

    @Test("A report contains every diagnostic part, and no EID, id, memo, email address or token")
    func live() async throws {
        let system = try await LiveSystem()
        let (eid, id) = try await system.request("12.34", ["--memo", "Zoe birthday cake"])
        try await eventually("the payer hears the request and its memo") {
            let heard = try await GotchuCtl.run(["scan", "--once", "--json"], socket: system.payer)
            return heard.out.contains("birthday cake") ? true : nil
        }
        for socket in [system.kiosk, system.payer] {
            let folder = try TemporaryFolder()
            let file = "\(folder.path)/report.txt"
            let run = try await GotchuCtl.run(["bugreport", file, "--json"], socket: socket)
            #expect(run.code == 0, "\(run.err)")
            let report = try String(contentsOfFile: file, encoding: .utf8)
            #expect(try mode(of: file) == 0o600)
            let state = socket.replacing(".sock", with: "")
            let token = try String(contentsOfFile: "\(state)/token", encoding: .utf8)
            for secret in [eid, id, "birthday", "example.com", token.filter { !$0.isNewline }] {
                #expect(!report.contains(secret), "\(secret)")
            }
            for part in [
                "== doctor", "== status", "== configuration", "== metrics", "== journal", "== log",
                "\"version\" : \"0.1.0\"", "gotchu_adverts_total", "simulated",
                "gotchud is listening",
            ] {
                #expect(report.contains(part), "\(part)")
            }
            #expect(report.contains("eid-1"))
        }
    }

    @Test("A report does not overwrite a file and does not follow a link")
    func overwrites() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("mine", to: "report.txt")
        let link = "\(folder.path)/link.txt"
        try FileManager.default.createSymbolicLink(
            atPath: link,
            withDestinationPath: "\(folder.path)/elsewhere"
        )
        for path in [file, link, "\(folder.path)/none/report.txt"] {
            let run = try await GotchuCtl.run(["bugreport", path])
            #expect(run.code == 74)
            #expect(run.next.hasPrefix("→ gotchu-ctl bugreport "))
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/elsewhere"))
    }

    @Test("A report without a daemon contains what is available, and names what is missing")
    func dead() async throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/report.txt"
        let run = try await GotchuCtl.run(["bugreport", file])
        #expect(run.code == 0)
        #expect(run.out == "\(file)\n")
        #expect(run.err.contains("Missing: what gotchud knows: gotchud is not running"))
        let report = try String(contentsOfFile: file, encoding: .utf8)
        #expect(report.contains("== doctor\n"))
        #expect(report.contains("bad daemon: gotchud is not running"))
        #expect(report.contains("== missing\nwhat gotchud knows"))
    }

    @Test("A report without a daemon asks journalctl for the log without the machine's name")
    func journal() async throws {
        let folder = try TemporaryFolder()
        // This script stands in for journalctl and prints its arguments.
        let script = try folder.write("#!/bin/sh\necho asked \"$@\"\n", to: "journalctl")
        #expect(chmod(script, 0o755) == 0)
        let file = "\(folder.path)/report.txt"
        let path = "\(folder.path):/usr/bin:/bin"
        let run = try await GotchuCtl.run(["bugreport", file], environment: ["PATH": path])
        #expect(run.code == 0)
        let report = try String(contentsOfFile: file, encoding: .utf8)
        let asked = try #require(report.split(separator: "\n").first { $0.hasPrefix("asked ") })
        // With `--quiet`, journalctl prints no note about missing entries.
        for option in ["--unit=gotchud", "--no-hostname", "--quiet"] {
            #expect(asked.split(separator: " ").contains(Substring(option)), "\(asked)")
        }
    }

    @Test("A user who does not own the daemon gets no report from it", .enabled(if: getuid() == 0))
    func owner() async throws {
        let system = try await LiveSystem(isLoggedIn: false)
        system.openTill()
        let curl = try Program(
            "/usr/bin/setpriv",
            [
                "--reuid", "65534", "--regid", "65534", "--clear-groups", "curl", "-s",
                "--unix-socket", system.kiosk, "http://gotchu/v1/bugreport",
            ]
        )
        #expect(try await curl.exitCode() == 0)
        #expect(curl.text.contains("NOT_PERMITTED"))
    }
}
