import Foundation
import TestSupport
import Testing

@Suite("Wrong input is reported before any call")
struct UsageTests {
    private static let contest = "01999f5e-7a10-7c31-9b1e-4a5d6c7b8a90"

    @Test(
        "An invalid command line exits with 64",
        arguments: [
            ["frobnicate"], ["request"], ["pay", "--yes"], ["pay", "--yes", "--max"],
            ["pay", "a1b2c3d4e5", "--near", "--yes", "--max", "1"], ["pay"],
            ["scan", "--json", "--json-lines"], ["scan", "--timeout", "0"], ["wait"],
            ["watch", "--run", "/bin/true", "--json"], ["wait", "--for", "rain"],
            ["login", "--token-file", "x", "--dev-email", "a@b"],
            ["request", "5", "--currency", "xyz"], ["status", "--sock", "/x"],
            ["--sock", "/x", "status"], ["--socket"], ["status", "--socket", ""],
            ["demo", "--socket", "/x"],
            ["demo", "--screens", "--json"], ["earnings", "--from", "2026-11-01"],
            ["--socket", "/x", "demo"], ["contest", "create", "x"], ["contest", "score", "x"],
            ["contest", "board", "x", "--all", "--json"],
            ["contest", "create", "x", "--file", "y"], ["contest", "wait", "x", "--timeout", "0"],
            ["request", "5", "--ttl", "0"], ["request", "5", "--ttl", "many"],
            ["request", "5", "--split", "2", "--shares", "2,3"], ["request", "5", "--split", "1"],
            ["request", "5", "--split", "2", "--allow-tip"], ["request", "5", "--all-or-nothing"],
            ["contest", "list", "--limit", "0"], ["contest", "desk", Self.contest, "--ttl", "0"],
        ]
    )
    func usage(arguments: [String]) async throws {
        let run = try await GotchuCtl.run(arguments)
        #expect(run.code == 64, "\(run.err)")
        #expect(run.next.contains("gotchu-ctl"))
        guard !arguments.contains("--json") else { return }
        #expect(run.out.isEmpty)
        let json = try await GotchuCtl.run(["--json"] + arguments)
        #expect(json.code == 64)
        let error = try #require(try json.json()["error"] as? [String: Any])
        #expect(error["code"] as? String == "USAGE" && error["exit_code"] as? Int == 64)
    }

    @Test("An unknown command or option is reported with the nearest known name, if there is one")
    func unknownCommand() async throws {
        for arguments in [["stauts"], ["--json", "stauts"], ["--socket", "/a", "stauts", "--x"]] {
            let run = try await GotchuCtl.run(arguments)
            #expect(run.code == 64)
            #expect(
                run.err.contains("There is no command 'stauts'. Did you mean 'status'?"),
                "\(run.err)"
            )
        }
        let far = try await GotchuCtl.run(["frobnicate"])
        #expect(far.code == 64 && far.err.contains("There is no command 'frobnicate'.\n"))
        let option = try await GotchuCtl.run(["status", "--jsn"])
        #expect(option.code == 64 && option.err.contains("Did you mean '--json'?"))
    }

    @Test(
        "A wrong command line is reported in JSON with the help of the command that it names",
        arguments: [
            (["request"], "request "), (["--socket", "/x", "contest", "score"], "contest score "),
            (["wallet", "add"], "wallet add "), (["earnings", "--from", "x"], "earnings "),
            (["contest", "frobnicate"], "contest "), (["frobnicate"], ""),
        ]
    )
    func helpOfCommand(arguments: [String], command: String) async throws {
        let run = try await GotchuCtl.run(["--json"] + arguments)
        let error = try #require(try run.json()["error"] as? [String: Any])
        #expect(error["fix"] as? String == "gotchu-ctl \(command)--help")
    }

    @Test("A currency may be written in capitals")
    func currency() async throws {
        let run = try await GotchuCtl.run(["request", "5", "--currency", "USD"])
        #expect(run.code == 69, "\(run.err)")
    }

    @Test("The suggested command to start the daemon has an absolute socket path")
    func relativeSocket() async throws {
        let run = try await GotchuCtl.run(["status", "--socket", "a.sock"])
        let folder = FileManager.default.currentDirectoryPath
        #expect(run.next == "→ gotchud --socket \(folder)/a.sock")
    }

    @Test(
        "A command whose data has the wrong form exits with 65",
        arguments: [
            ["request", "1e3"], ["request", "1.234"], ["request", "0"], ["request", "-5"],
            ["request", "5", "--shares", "2,2"], ["pay", "nothexnoth", "--yes", "--max", "1"],
            ["pay", "--yes", "--max", "much"], ["cancel", "../x"], ["login"],
            ["demo", "--amount", "100.01"], ["refund", "s-1", "1.234", "--yes"],
            ["refund", "a b", "--yes"], ["contest", "show", "x"],
            ["contest", "score", Self.contest, "7"],
            [
                "contest", "create", "x", "--template", Self.contest, "--fee", "1.234", "--locks",
                "+1h",
            ],
        ]
    )
    func badData(arguments: [String]) async throws {
        let run = try await GotchuCtl.run(arguments)
        // The parser treats a word that begins with a dash as an option.
        #expect(run.code == (arguments.last == "-5" ? 64 : 65), "\(run.err)")
        #expect(run.out.isEmpty)
    }

    @Test(
        "Too large an amount exits with 65, too long a lifetime with 64, and both have the limits"
    )
    func tooMuch() async throws {
        for (arguments, code, limits) in [
            (["request", "1000000.01"], 65, "between $0.01 and $1,000,000.00."),
            (["request", "5", "--ttl", "301"], 64, "--ttl is 1 to 300 seconds."),
        ] as [([String], Int32, String)] {
            let run = try await GotchuCtl.run(arguments)
            #expect(run.code == code && run.out.isEmpty, "\(run.err)")
            #expect(run.err.contains(limits), "\(run.err)")
        }
    }

    @Test("The suggested command repeats the input and adds only --yes")
    func unasked() async throws {
        let run = try await GotchuCtl.run(["refund", "s-1", "5.00", "--reference", "a cup"])
        #expect(run.code == 64)
        #expect(run.next == "→ gotchu-ctl refund s-1 5.00 --reference 'a cup' --yes")
    }

    @Test("A login whose token file cannot be read exits with 74, and no message shows a token")
    func tokenFile() async throws {
        let run = try await GotchuCtl.run(["login", "--token-file", "/nonexistent/token"])
        #expect(run.code == 74)
        let folder = try TemporaryFolder()
        let file = try folder.write("two words", to: "token")
        let words = try await GotchuCtl.run(["login", "--token-file", file])
        #expect(words.code == 65)
        #expect(!words.err.contains("two words"))
        let piped = try await GotchuCtl.run(["login"], input: "secret-token\n")
        #expect(piped.code == 69)
        #expect(!piped.err.contains("secret-token"))
    }

    @Test("Common options may stand before a command as well as after it")
    func commonOptions() async throws {
        let before = try await GotchuCtl.run(["--socket", "/nonexistent/other", "status"])
        #expect(before.code == 69)
        #expect(before.next == "→ gotchud --socket /nonexistent/other")
        let after = try await GotchuCtl.run(["status", "--socket", "/nonexistent/other"])
        #expect(after.err == before.err)
        let json = try await GotchuCtl.run(["--json", "wallet"]).json()
        #expect(json["error"] is [String: Any])
        let nearer = try await GotchuCtl.run(["--socket", "/a", "status", "--socket", "/b"])
        #expect(nearer.next == "→ gotchud --socket /b")
    }

    @Test("The help of a command has examples, and `help exit-codes` lists the exit codes")
    func help() async throws {
        for command in [
            "status", "scan", "request", "pay", "wallet", "contest", "login", "watch", "demo",
        ] {
            let run = try await GotchuCtl.run([command, "--help"])
            #expect(run.code == 0)
            #expect(run.out.contains("EXAMPLES:\n  gotchu-ctl \(command)"), "\(command)")
        }
        let run = try await GotchuCtl.run(["help", "exit-codes"])
        for code in ["0", "1", "64", "65", "69", "70", "74", "75", "76", "77", "78"] {
            #expect(run.out.contains("  \(code)  "), "\(code)")
        }
        #expect(try await GotchuCtl.run(["--version"]).out == "0.1.0\n")
        let list = try await GotchuCtl.run(["exit-codes", "--json"]).json()["exit_codes"]
        let usage = (list as? [[String: Any]])?.first { $0["code"] as? Int == 64 }
        #expect((usage?["meaning"] as? String)?.hasPrefix("the command line") == true)
    }
}
