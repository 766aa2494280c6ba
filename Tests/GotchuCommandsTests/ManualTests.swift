import Foundation
import GotchuAPI
import TestSupport
import Testing

@Suite("The manual describes what the programs accept")
struct ManualTests {
    /// A command in the output of `--experimental-dump-help`.
    private struct Command: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable {
                let name: String
            }
            let names: [Name]?
        }
        let commandName: String
        let discussion: String?
        let arguments: [Argument]?
        let subcommands: [Command]?

        /// The lines of the examples in the help of this command and its subcommands.
        var exampleLines: [Substring] {
            let lines = (discussion ?? "").split(separator: "\n").filter { $0.hasPrefix("  ") }
            return lines + (subcommands ?? []).flatMap(\.exampleLines)
        }

        /// Returns the long names of the options of this command and its subcommands, without the
        /// common options.
        func options(but common: Set<String>) -> Set<String> {
            let names = (arguments ?? []).compactMap {
                $0.names?.map(\.name).max { $0.count < $1.count }
            }
            let below = (subcommands ?? []).map { $0.options(but: common) }
            return below.reduce(Set(names)) { $0.union($1) }
                .subtracting(common).subtracting(["help", "version"])
        }
    }

    private struct Dump: Decodable {
        let command: Command
    }

    private func command(of program: String) async throws -> Command {
        let folder = try TemporaryFolder()
        let binary = Program.folder.appendingPathComponent(program).path
        let shell = "'\(binary)' --experimental-dump-help > \(folder.path)/help"
        #expect(try await Program("/bin/sh", ["-c", shell]).exitCode() == 0)
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/help"))
        return try JSONDecoder().decode(Dump.self, from: data).command
    }

    private func page(_ name: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try String(
            contentsOf: root.appendingPathComponent("docs/man/\(name)"),
            encoding: .utf8
        )
    }

    /// Returns the options that a part of a page lists as `.It Fl -name`.
    private func options(in text: String) -> Set<String> {
        let lines = text.split(separator: "\n").filter { $0.hasPrefix(".It Fl -") }
        return Set(lines.map { String($0.dropFirst(8).prefix { $0 != " " }) })
    }

    /// Returns the subsections of a page by the first word of their titles.
    private func sections(of page: String) -> [String: String] {
        var sections: [String: String] = [:]
        for part in page.components(separatedBy: "\n.Ss ").dropFirst() {
            let name = String(part.prefix { $0 != " " && $0 != "\n" })
            sections[name] = part.components(separatedBy: "\n.Sh ")[0]
        }
        return sections
    }

    @Test(
        "A page describes exactly the commands of its program and their options",
        arguments: [("gotchu-ctl", 1, ["socket", "json"]), ("gotchu-server", 8, [])]
    )
    func commands(program: String, section: Int, common: [String]) async throws {
        let sections = try sections(of: page("\(program).\(section)"))
        let commands = try await command(of: program).subcommands ?? []
        let names = commands.map(\.commandName).filter { $0 != "help" }
        #expect(!names.isEmpty)
        #expect(Set(sections.keys) == Set(names + ["Common"]))
        for command in commands where command.commandName != "help" {
            let described = options(in: sections[command.commandName] ?? "")
            #expect(described == command.options(but: Set(common)), "\(command.commandName)")
        }
        #expect(options(in: sections["Common"] ?? "").isSuperset(of: common))
    }

    @Test(
        "Every program reports the same version",
        arguments: ["gotchud", "gotchu-ctl", "gotchu-server"]
    )
    func version(program: String) async throws {
        let run = try Program(program, ["--version"])
        #expect(try await run.exitCode() == 0)
        #expect(run.text == GotchuVersion.current + "\n")
    }

    @Test(
        "The help breaks no line of an example: pasted, each is the command that it shows",
        arguments: ["gotchud", "gotchu-ctl", "gotchu-server"]
    )
    func exampleLines(program: String) async throws {
        let lines = try await command(of: program).exampleLines
        #expect(program == "gotchud" || lines.contains { $0.hasPrefix("  \(program) ") })
        // The help also breaks a line of exactly 80 columns.
        for line in lines { #expect(line.count < 80, "\(line)") }
    }

    @Test("The manual page of gotchud describes exactly gotchud's options")
    func gotchud() async throws {
        let described = options(in: try page("gotchud.8")).subtracting(["version"])
        #expect(described == (try await command(of: "gotchud").options(but: [])))
    }

    @Test("An invalid value of an option ends gotchud with 78, and the message names the option")
    func options() async throws {
        let own: Set = ["config", "check-config", "check-server"]
        for option in try await command(of: "gotchud").options(but: own) {
            let run = try Program("gotchud", ["--check-config", "--\(option)", "?"])
            #expect(try await run.exitCode() == 78)
            #expect(run.text.hasPrefix("gotchud: --\(option): "), "\(run.text)")
        }
    }

    @Test("The page lists gotchud's variables; gotchud and the doctor report an unknown variable")
    func variables() async throws {
        let described = try page("gotchud.8").matches(of: /GOTCHU_[A-Z_]*[A-Z]/)
            .map { String($0.output) }
        let folder = try TemporaryFolder()
        let token = try folder.write("token", to: "token")
        chmod(token, 0o600)
        let environment = [
            "GOTCHU_CONFIG": try folder.write("{}", to: "config"), "GOTCHU_SOCKET": "/tmp/g.sock",
            "GOTCHU_STATE": "/tmp/g", "GOTCHU_SERVER": "http://127.0.0.1:1",
            "GOTCHU_TOKEN_FILE": token, "GOTCHU_RADIO": "auto",
            "GOTCHU_LISTEN": "always", "GOTCHU_VIEWER_UIDS": "1",
            "GOTCHU_OBSERVER_UIDS": "1", "GOTCHU_CASHIER_UIDS": "1", "GOTCHU_SPENDER_UIDS": "1",
            "GOTCHU_LOG_LEVEL": "info", "GOTCHU_GROUP": "gotchu", "GOTCHU_SERVICE_UUID": "feed",
            "GOTCHU_EID_SECONDS": "0",
            "GOTCHU_CA_FILE": "/etc/ssl/certs/ca-certificates.crt",
            "GOTCHU_PROXY": "http://127.0.0.1:1", "GOTCHU_METRICS": "127.0.0.1:9464",
        ]
        #expect(Set(described) == Set(environment.keys))
        let run = try Program("gotchud", ["--check-config"], environment: environment)
        #expect(try await run.exitCode() == 0)
        #expect(run.text == "The configuration is right.\n")

        let plain = ["--check-config", "--server", "http://pay.example"]
        let readable = try Program("gotchud", plain, environment: environment)
        #expect(try await readable.exitCode() == 0)
        #expect(readable.text.contains("without encryption"), "\(readable.text)")

        let typo = ["GOTCHU_SOKET": "/tmp/g.sock"]
        let warned = try Program("gotchud", ["--check-config"], environment: typo)
        #expect(try await warned.exitCode() == 0)
        let warning = "There is no setting with this name variable=GOTCHU_SOKET"
        #expect(warned.text.contains(warning), "\(warned.text)")
        // A terminal that systemd started has this variable. It may change the format of the log.
        let desktop = typo.merging(["JOURNAL_STREAM": "8:1"]) { $1 }
        let doctor = try Program("gotchu-ctl", ["doctor"], environment: desktop)
        try await doctor.exitCode()
        #expect(doctor.text.contains("! configuration  \(warning).\n"), "\(doctor.text)")
    }

    @Test("The example and the keys on the manual page of gotchud.json are valid for gotchud")
    func configuration() async throws {
        let page = try page("gotchud.json.5")
        let example = try #require(
            page.components(separatedBy: "indent\n").last?.components(separatedBy: "\n.Ed").first
        )
        let folder = try TemporaryFolder()
        let file = try folder.write(example, to: "example.json")
        let run = try Program("gotchud", ["--check-config", "--config", file])
        #expect(try await run.exitCode() == 0, "\(run.text)")

        let settings = settings(of: page)
        #expect(settings.count >= 12)
        for (key, json) in settings {
            let file = try folder.write(json, to: "\(key).json")
            let run = try Program("gotchud", ["--check-config", "--config", file])
            #expect(try await run.exitCode() == 0, "\(key): \(run.text)")
        }
    }

    /// Returns the keys that a page lists, each with the text of a file that has only this key. The
    /// file of a key in an inner list also has the key of the outer list around it.
    private func settings(of page: String) -> [(key: String, json: String)] {
        var settings: [(key: String, json: String)] = []
        var depth = 0
        var group = ""
        for line in page.split(separator: "\n") {
            if line.hasPrefix(".Bl ") { depth += 1 }
            if line.hasPrefix(".El") { depth -= 1 }
            guard line.hasPrefix(".It Li ") else { continue }
            let key = String(line.dropFirst(7))
            if depth == 1 { group = key }
            let member = "{\"\(key)\": null}"
            settings.append((key, depth == 1 ? member : "{\"\(group)\": \(member)}"))
        }
        return settings
    }

    @Test(
        "A page passes groff without warnings",
        .enabled(if: access("/usr/bin/groff", X_OK) == 0),
        arguments: ["gotchu-ctl.1", "gotchud.8", "gotchu-server.8", "gotchud.json.5"]
    )
    func lint(name: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(try page(name), to: name)
        let groff = try Program("/usr/bin/groff", ["-mdoc", "-ww", "-Tutf8", "-z", file])
        #expect(try await groff.exitCode() == 0)
        #expect(groff.text.isEmpty)
    }
}
