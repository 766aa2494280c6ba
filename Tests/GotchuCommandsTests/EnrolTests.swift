import Foundation
import GotchuAPI
import LocalAPI
import TestSupport
import Testing

@testable import GotchuCommands

@Suite("A till is enrolled with one command")
struct EnrolTests {
    /// Starts a payment server in a folder and registers a till. Returns the server, its URL and
    /// the till's code.
    private func server(
        _ name: String,
        in folder: TemporaryFolder
    ) async throws -> (program: Program, url: String, code: String) {
        let database = ["--database", "sqlite:\(folder.path)/\(name).db"]
        let program = try Program(
            "gotchu-server",
            ["serve", "--listen", "127.0.0.1:0", "--dev"] + database
        )
        let url = try await eventually("the server listens; it said: \(program.text)") {
            program.text.firstMatch(of: /listening on (http\S+)/).map { String($0.1) }
        }
        let add = try Program("gotchu-server", ["devices", "add", "Till"] + database)
        #expect(try await add.exitCode() == 0, "\(add.text)")
        let code = add.text.split(separator: "\n").last { $0.hasPrefix("gotchu-device.") }
        return (program, url, String(try #require(code)))
    }

    private func daemon(_ config: String, in folder: TemporaryFolder) async throws -> Program {
        let daemon = try Program(
            "gotchud",
            [
                "--config", config, "--socket", "\(folder.path)/g.sock", "--state",
                "\(folder.path)/state", "--radio", "simulated:\(folder.path)/air@0,0",
            ]
        )
        try await eventually("the daemon listens; it said: \(daemon.text)") {
            daemon.text.contains("gotchud is listening") ? true : nil
        }
        return daemon
    }

    @Test(
        "Command `enrol` sets the server, waits for a restart and logs in, unless a request is open"
    )
    func story() async throws {
        let folder = try TemporaryFolder()
        let (old, new) = (try await server("old", in: folder), try await server("new", in: folder))
        let text =
            "{\n  \"eid_seconds\": 60,\n  \"server\" : \"\(old.url)\",\n  \"group\": \"x\"\n}\n"
        let config = try folder.write(text, to: "gotchud.json")
        chmod(config, 0o640)
        let link = "\(folder.path)/link.json"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: config)
        let code = try folder.write(new.code, to: "code")
        let daemon = try await daemon(config, in: folder)
        let socket = "\(folder.path)/g.sock"
        let login = ["login", "--dev-email", "shop@example.com"]
        #expect(try await GotchuCtl.run(login, socket: socket).code == 0)
        let asked = try await GotchuCtl.run(["request", "5", "--no-wait"], socket: socket)
        #expect(asked.code == 0)

        let enrol = ["enrol", new.url + "/", "--config", link, "--token-file", code]
        let refused = try await GotchuCtl.run(enrol, socket: socket)
        #expect(refused.code == 1 && refused.next == "→ gotchu-ctl history", "\(refused.err)")
        let nowhere = ["enrol", "http://127.0.0.1:1", "--config", link, "--token-file", code]
        #expect(try await GotchuCtl.run(nowhere, socket: socket).code == 75)
        #expect(try String(contentsOfFile: config, encoding: .utf8) == text)

        let client = LocalClient(socketPath: socket)
        let request = try #require(try await client.requests().first)
        _ = try await client.cancelRequest(request.id)
        let run = try Program("gotchu-ctl", enrol + ["--socket", socket])
        try await eventually("the command asks for a restart; it said: \(run.text)") {
            run.text.contains("Restart gotchud now") ? true : nil
        }
        // The daemon has logged out, so it cannot send the old server's token to the new server.
        #expect(try await client.status().server.isLoggedIn == false)
        daemon.signal(SIGTERM)
        try await daemon.exitCode()
        let restarted = try await self.daemon(config, in: folder)
        #expect(try await run.exitCode() == 0, "\(run.text)")
        #expect(run.text.contains("Enrolled: logged in at \(new.url)\n"), "\(run.text)")
        #expect(!run.text.contains(new.code) && !restarted.text.contains(new.code))
        let status = try await client.status().server
        #expect(status.url == new.url && status.isLoggedIn)
        let written = try String(contentsOfFile: config, encoding: .utf8)
        #expect(
            written == text.replacing("\"server\" : \"\(old.url)", with: "\"server\": \"\(new.url)")
        )
        let attributes = try FileManager.default.attributesOfItem(atPath: config)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == config)
    }

    @Test(
        "A code on the command line, a wrong address and a wrong file are refused with reasons"
    )
    func usage() async throws {
        let secret = try await GotchuCtl.run(["enrol", "https://pay.example", "gotchu-device.1.2"])
        #expect(secret.code == 64)
        #expect(secret.err.contains("The code cannot be an argument"), "\(secret.err)")
        let none = ["enrol", "https://pay.example", "--config", "/nonexistent/gotchud.json"]
        #expect(try await GotchuCtl.run(none).code == 74)
        let folder = try TemporaryFolder()
        let file = try folder.write("{\"rdaio\": \"auto\"}", to: "gotchud.json")
        let wrong = try await GotchuCtl.run(["enrol", "https://pay.example", "--config", file])
        #expect(wrong.code == 65 && wrong.err.contains("\(file):1: rdaio: "), "\(wrong.err)")
        let bytes = "\(folder.path)/latin1.json"
        try Data("{\"group\": \"".utf8 + [0xE9] + "\"}".utf8).write(to: URL(fileURLWithPath: bytes))
        let latin1 = try await GotchuCtl.run(["enrol", "https://pay.example", "--config", bytes])
        #expect(latin1.code == 65, "\(latin1.err)")
        let good = try folder.write("{}", to: "gotchud.json")
        let address = try await GotchuCtl.run(["enrol", "ftp://pay.example", "--config", good])
        #expect(address.code == 65 && address.err.contains("A server is http://"), "\(address.err)")
    }

    @Test(
        "The server is set in a file of any form, and nothing else in the file changes",
        arguments: [
            ("{}", "{\"server\": \"https://a.example\"}"),
            ("{ }\n", "{\"server\": \"https://a.example\" }\n"),
            (
                "{\"group\": \"\\\"server\\\": \"}",
                "{\"server\": \"https://a.example\",\"group\": \"\\\"server\\\": \"}"
            ),
            ("{\"server\":null}", "{\"server\": \"https://a.example\"}"),
            (
                "{\"group\":\"server\",\n\t\"server\"\n:\t\"http://\\u0062\", \"radio\":\"auto\"}",
                "{\"group\":\"server\",\n\t\"server\": \"https://a.example\", \"radio\":\"auto\"}"
            ),
        ]
    )
    func forms(text: String, expected: String) {
        let named = ConfigurationDocument.text(text, withServer: "https://a.example")
        #expect(named == expected)
    }
}
