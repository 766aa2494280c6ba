import Foundation
import TestSupport
import Testing

@Suite("Refused starts of gotchud")
struct RefusedStartTests {
    @Test("A bad configuration ends gotchud with 78, and the message names the file and the line")
    func badConfiguration() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("{\n  \"radio\": \"smoke signals\"\n}", to: "gotchud.json")
        let program = try Program("gotchud", ["--check-config", "--config", file])
        #expect(try await program.exitCode() == 78)
        #expect(program.text.contains("\(file):2: A radio is"))
        let next = "Correct it and run: gotchud --config \(file) --check-config\n"
        #expect(program.text.hasSuffix(next), "\(program.text)")
        let good = try folder.write("{}", to: "good.json")
        let check = try Program("gotchud", ["--check-config", "--config", good])
        #expect(try await check.exitCode() == 0)
    }

    @Test("Option --check-config reports missing files, groups and users, and an open token file")
    func checkedNames() async throws {
        let folder = try TemporaryFolder()
        let token = "\(folder.path)/token"
        let (noGroup, noUser) = ("no-such-group-here", 4_000_000)
        let file = try folder.write(
            """
            {"token_file": "\(token)", "group": "\(noGroup)", "spender_uids": [\(noUser)]}
            """,
            to: "gotchud.json"
        )
        let arguments = ["--check-config", "--config", file]
        let missing = try Program("gotchud", arguments)
        #expect(try await missing.exitCode() == 78)
        #expect(missing.text.contains("There is no file \(token)."), "\(missing.text)")
        _ = try folder.write("token", to: "token")
        chmod(token, 0o644)
        let there = try Program("gotchud", arguments)
        #expect(try await there.exitCode() == 0)
        for what in ["group=\(noGroup)", "uid=\(noUser)", "Others may read the token file"] {
            #expect(there.text.contains(what), "\(there.text)")
        }
    }

    @Test(
        "A journal that is damaged or of another version ends gotchud with 65 and is not changed",
        arguments: [
            ("a3a6bf44 {}\na3a6bf43 {}\n", "is damaged"),
            // The checksum is right, but the record is unknown.
            ("a3a6bf43 {}\n", "another version of gotchud"),
        ]
    )
    func badJournal(text: String, reason: String) async throws {
        let folder = try TemporaryFolder()
        let state = "\(folder.path)/state"
        #expect(mkdir(state, 0o700) == 0)
        let journal = try folder.write(text, to: "state/journal")
        let program = try Program(
            "gotchud",
            [
                "--socket", "\(folder.path)/g.sock", "--state", state, "--radio",
                "simulated:\(folder.path)",
            ]
        )
        #expect(try await program.exitCode() == 65, "\(program.text)")
        #expect(program.text.contains("Line 1 of \(journal)"), "\(program.text)")
        #expect(program.text.contains(reason), "\(program.text)")
        #expect(try String(contentsOfFile: journal, encoding: .utf8) == text)
    }

    @Test("A state folder that others can write to ends gotchud with 78 and is not used")
    func stateOfOthers() async throws {
        let folder = try TemporaryFolder()
        let state = "\(folder.path)/state"
        #expect(mkdir(state, 0o700) == 0 && chmod(state, 0o777) == 0)
        let program = try Program(
            "gotchud",
            [
                "--socket", "\(folder.path)/g.sock", "--state", state, "--radio",
                "simulated:\(state)",
            ]
        )
        #expect(try await program.exitCode() == 78)
        #expect(program.text.hasSuffix("\nchmod go-w \(state)\n"), "\(program.text)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: state).isEmpty)
    }
}
