import Foundation
import GotchuCore
import Ledger
import LedgerStore
import Outbox
import SQLite
import ServiceProcess
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of the commands, options, messages and exit codes of gotchu-server.
@Suite("Commands")
struct CommandTests {
    private let folder: TemporaryFolder
    private var database: String { "sqlite:\(folder.path)/books.db" }

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("The verify and backup commands work beside a running server, and a backup can be served")
    func verifyAndBackup() async throws {
        let server = try await ServerProcess()
        let payee = try await server.wire.login("payee")
        let address = "sqlite:\(server.path)"
        let verified = try await ServerProcess.run("verify", "--database", address)
        #expect(verified.code == 0)
        #expect(verified.text.contains("ok\t1\tthe balances of all accounts sum to zero"))
        #expect(verified.text.hasSuffix("The books are right.\n"))
        let copy = folder.path + "/books.db"
        let made = try await ServerProcess.run("backup", copy, "--database", address)
        #expect(made.code == 0, "\(made.text)")
        let again = try await ServerProcess.run("backup", copy, "--database", address)
        #expect(again.code == 74 && again.text.contains("never overwrites"))
        let restored = try await ServerProcess(folder: folder)
        let known = try await restored.wire.login("payee")
        #expect(try await restored.wire.balance(known) == 10_000)
        // Tokens are signed with a secret that is not in the backup.
        #expect(try await restored.wire.get("/wallet/me", token: payee).status == 401)
    }

    @Test("A new database file can be read only by its owner")
    func privateFiles() async throws {
        let program = Program.folder.appendingPathComponent("gotchu-server").path
        let made = try Program(
            "/bin/sh",
            ["-c", "umask 0; exec \"$@\"", "sh", program, "migrate", "--database", database]
        )
        #expect(try await made.exitCode() == 0, "\(made.text)")
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/books.db")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("The verify command prints the head of the chain and compares it with each --seal")
    func head() async throws {
        let server = try await ServerProcess()
        _ = try await server.wire.login("payee")
        let address = "sqlite:\(server.path)"
        let verified = try await ServerProcess.run("verify", "--database", address)
        let found = verified.text.firstMatch(of: /\nhead\t([0-9a-f]{20}):(1:[0-9a-f]{64})\n/)
        let (_, chain, seal) = try #require(found).output
        let head = "\(chain):\(seal)"
        let held = try await ServerProcess.run("verify", "--database", address, "--seal", "\(head)")
        #expect(held.code == 0, "\(held.text)")
        let other = "\(chain):1:" + String(repeating: "0", count: 64)
        for seals in [[other], [head, other], [other, head]] {
            let options = seals.flatMap { ["--seal", $0] }
            let forged = try Program("gotchu-server", ["verify", "--database", address] + options)
            #expect(try await forged.exitCode() == 1)
            #expect(forged.text.contains("of chain \(chain) has another hash"), "\(forged.text)")
        }
        let wrong = try await ServerProcess.run("verify", "--database", address, "--seal", "1")
        #expect(wrong.code == 64 && wrong.text.contains("CHAIN:NUMBER:HASH"))
    }

    /// SQL that damages a database, options of `verify`, and the advice that the command prints.
    struct Advice: Sendable, CustomTestStringConvertible {
        static let restore = "keep the books as they are"
        static let makeAnew = "can be made anew"
        static let update = "the newest gotchu-server"
        static let compareSeals = "was printed for"

        let damage: String
        var options: [String] = []
        var code: Int32 = 1
        let advice: [String]
        /// Parts of the report on the damage.
        var findings: [String] = []

        var testDescription: String { damage }
    }

    @Test(
        "The verify command reports the damage and gives the advice that fits it",
        arguments: [
            Advice(
                damage: "UPDATE accounts SET balance = balance + 1 WHERE balance > 0",
                advice: [Advice.restore],
                findings: ["BROKEN", "balance 6, expected 5"]
            ),
            Advice(damage: "DROP TRIGGER seals_stay", advice: [Advice.makeAnew]),
            Advice(
                damage: "INSERT INTO due VALUES ('a', 'b', 'session', 1, NULL)",
                advice: [Advice.makeAnew]
            ),
            Advice(
                damage: """
                    INSERT INTO answers
                    VALUES ('a', 'b', 'c', zeroblob(32), NULL, '{}', 'r', NULL, 'i', 1)
                    """,
                advice: [Advice.restore, Advice.update]
            ),
            Advice(
                damage: "",
                options: ["--seal", "0a:1:" + String(repeating: "0", count: 64)],
                advice: [Advice.compareSeals]
            ),
            Advice(
                damage: "UPDATE accounts SET currency = 'x' WHERE balance > 0",
                code: 65,
                advice: [Advice.restore]
            ),
            Advice(damage: "PRAGMA application_id = 7", code: 65, advice: ["Name a new file"]),
            Advice(damage: "PRAGMA user_version = 99", code: 65, advice: ["Install that version"]),
        ]
    )
    func advice(expected: Advice) async throws {
        let path = folder.path + "/books.db"
        let store = try SQLiteStore(path: path)
        let user = OpenAccount(login: "a", displayName: "a", opening: Money(minorUnits: 5))
        _ = try await store.commit(user)
        try Connection(path: path, mode: .readWrite).execute(expected.damage)
        let arguments = ["verify", "--database", "sqlite:\(path)"] + expected.options
        let verified = try Program("gotchu-server", arguments)
        #expect(try await verified.exitCode() == expected.code, "\(verified.text)")
        for text in expected.findings { #expect(verified.text.contains(text), "\(verified.text)") }
        let all = [Advice.restore, Advice.makeAnew, Advice.update, Advice.compareSeals]
        for text in Set(all + expected.advice) {
            let isGiven = verified.text.contains(text)
            #expect(isGiven == expected.advice.contains(text), "\(text): \(verified.text)")
        }
    }

    @Test(
        "A server with invalid or unusable options exits with a message and an exit code",
        arguments: [
            (["--listen", "0.0.0.0:0", "--dev"], 78, "anybody can log in"),
            (["--listen", "nonsense"], 64, "HOST:PORT"),
            (["--listen", "127.0.0.1:65536"], 64, "from 0 to 65535"),
            (["--dev", "--dev-opening-balance", "x"], 64, "--dev-opening-balance: This"),
            (["--connections", "0"], 64, "--connections: This must be a number from 1 to 65536."),
            (["--queue", "65537"], 64, "--queue: This must be a number from 1 to 65536."),
            (["--drain-seconds", "61"], 64, "--drain-seconds: This must be a number from 0 to"),
            (["--token-seconds", "0"], 64, "--token-seconds: This must be a number from 1 to"),
            (["--trusted-proxy", "::1", "--trusted-proxy", "x"], 64, "--trusted-proxy: This must"),
            (["--log-level", "loud"], 64, "--log-level: A log level is one of trace, "),
            (["--oidc-jwks", "http://i.example/keys.json"], 64, "--oidc-jwks: Keys that are"),
            (["--listen", "127.0.0.1:0", "--dev-opening-balance", "5"], 64, "goes with --dev"),
            (["--listen", "192.0.2.1:0"], 78, "does not have the address 192.0.2.1:0"),
            (["--listen", "no-such-host.invalid:0"], 78, "not known here"),
            (openID(issuer: "https://i", audience: ""), 78, "must not be empty"),
            (openID(issuer: "", audience: "a"), 78, "must not be empty"),
        ]
    )
    func refused(arguments: [String], code: Int32, sentence: String) async throws {
        let program = try Program("gotchu-server", arguments + ["--database", database])
        #expect(try await program.exitCode() == code)
        #expect(program.text.contains(sentence), "\(program.text)")
    }

    private static func openID(issuer: String, audience: String) -> [String] {
        [
            "--listen", "127.0.0.1:0", "--oidc-issuer", issuer, "--oidc-audience", audience,
            "--oidc-jwks", "https://i/keys.json",
        ]
    }

    @Test(
        "A database address that is invalid or cannot be opened is refused",
        arguments: [
            ("sqlite:/nowhere/at/all.db", 74), ("mysql://x", 64), ("postgres://127.0.0.1:1/x", 74),
            ("sqlite:", 64), ("sqlite:/usr", 74),
        ]
    )
    func databases(database: String, code: Int32) async throws {
        let ended = try await ServerProcess.run("verify", "--database", database)
        #expect(ended.code == code, "\(ended.text)")
        let arguments = ["--listen", "127.0.0.1:0", "--database", database]
        let server = try Program("gotchu-server", arguments)
        #expect(try await server.exitCode() == code)
        guard code == 74, database.hasPrefix("sqlite:") else { return }
        let path = database.dropFirst("sqlite:".count)
        #expect(ended.text.contains(" \(path)") && server.text.contains(" \(path): unable to open"))
    }

    @Test("A server does not start without the file of its issuer's keys")
    func noKeys() async throws {
        let program = try Program(
            "gotchu-server",
            [
                "--listen", "127.0.0.1:0", "--database", database, "--oidc-issuer", "https://i",
                "--oidc-audience", "a", "--oidc-jwks", "/nowhere/keys.json",
            ]
        )
        #expect(try await program.exitCode() == 78)
        #expect(program.text.contains("/nowhere/keys.json cannot be read: No such file"))
    }

    @Test(
        "A command on an unknown id exits with 1 and names a command; a 33rd endpoint is refused"
    )
    func unknownNames() async throws {
        let address = database
        #expect(try await ServerProcess.run("migrate", "--database", address).code == 0)
        for command in [
            ["devices", "revoke", "x"], ["devices", "renew", "x"],
            ["devices", "add", "till", "--user", "x"], ["webhooks", "remove", "x"],
            ["webhooks", "resend", "x"],
            ["webhooks", "add", "http://127.0.0.1:9/x", "--dev", "--payee", "x"],
        ] {
            let program = try Program("gotchu-server", command + ["--database", address])
            #expect(try await program.exitCode() == 1, "\(program.text)")
            let isNamed = program.text.contains(/\ngotchu-server (devices|webhooks) [a-z]+/)
            #expect(isNamed, "\(program.text)")
        }
        let add = ["webhooks", "add", "http://127.0.0.1:9/x", "--dev", "--database", address]
        for _ in 0..<WebhookEndpoint.limit {
            #expect(try await Program("gotchu-server", add).exitCode() == 0)
        }
        let full = try Program("gotchu-server", add)
        #expect(try await full.exitCode() == 1)
        #expect(full.text.contains("There are 32 endpoints already"), "\(full.text)")
        #expect(full.text.contains("\ngotchu-server webhooks list\n"), "\(full.text)")
    }

    @Test("Each option has an environment variable, and an unknown variable is logged by name")
    func variables() async throws {
        let help = try await ServerProcess.run("serve", "--help").text
        let options = help.matches(of: /\n  (?:-h, )?--([a-z-]+)/).map { String($0.output.1) }
        let names = ServerSettings.table.map { $0.key.replacing("_", with: "-") }
        let limits = (ServerSettings.fundingTable + ServerSettings.contestTable)
            .map { $0.key.replacing("_", with: "-") }
        #expect(Set(options + limits) == Set(names + ["help", "version"]))
        #expect(Set(options).isDisjoint(with: limits))
        let server = try await ServerProcess(
            environment: ["GOTCHU_SERVER_TRUSTED_PROXIES": "::1", "GOTCHU_SERVER_QUEUE": "99"]
        )
        #expect(server.program.text.contains("name=GOTCHU_SERVER_TRUSTED_PROXIES"))
        #expect(!server.program.text.contains("GOTCHU_SERVER_QUEUE"))
    }

    @Test(
        "A variable with an invalid value is refused, and the message contains its name",
        arguments: [("QUEUE", "0"), ("DEV", "maybe"), ("TRUSTED_PROXY", "::1 x"), ("LISTEN", "x")]
    )
    func badVariable(name: String, value: String) async throws {
        let name = "GOTCHU_SERVER_" + name
        let program = try Program(
            "gotchu-server",
            ["--database", database],
            environment: [name: value]
        )
        #expect(try await program.exitCode() == 78)
        #expect(program.text.contains("gotchu-server: \(name): "), "\(program.text)")
    }

    @Test("An empty variable counts as not set")
    func emptyVariable() async throws {
        let empty = ["GOTCHU_SERVER_DATABASE": ""]
        let program = try Program("gotchu-server", ["verify"], environment: empty)
        #expect(try await program.exitCode() == 64)
        #expect(program.text.contains("No database is named."), "\(program.text)")
    }

    @Test("A misspelt variable of the server is reported, and the variables of gotchud are not")
    func unknownVariables() {
        let names = [
            "GOTCHU_DATABASE", "GOTCHU_SERVERLISTEN", "GOTCHU_SERVER_LISTN", "GOTCHU_SERVER",
            "GOTCHU_SERVER_LISTEN", "GOTCHU_LOG_LEVEL", "GOTCHU_SOCKET", "DATABASE",
        ]
        #expect(
            ServerSettings.unknownVariables(among: names) == [
                "GOTCHU_DATABASE", "GOTCHU_SERVERLISTEN", "GOTCHU_SERVER_LISTN",
            ]
        )
    }

    @Test(
        "A second --database is refused and creates no file; a second --trusted-proxy is allowed"
    )
    func givenTwice() async throws {
        let other = "sqlite:\(folder.path)/other.db"
        for more in [["--database", other], ["--database=\(other)"]] {
            let program = try Program("gotchu-server", ["migrate", "--database", database] + more)
            #expect(try await program.exitCode() == 64)
            #expect(program.text.contains("--database is given twice"), "\(program.text)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        let proxies = ["--trusted-proxy", "::1", "--trusted-proxy=::2"]
        #expect(ServerCommand.repeatedOption(in: proxies) == nil)
    }

    @Test("A database in memory is refused")
    func nowhere() async throws {
        let program = try Program("gotchu-server", ["migrate", "--database", "sqlite::memory:"])
        #expect(try await program.exitCode() == 64)
        #expect(program.text.contains("written as sqlite:PATH"), "\(program.text)")
    }

    @Test(
        "A database file in use is refused to a second server and to migrate until its server ends"
    )
    func twice() async throws {
        let server = try await ServerProcess()
        let arguments = ["--listen", "127.0.0.1:0", "--database", "sqlite:\(server.path)"]
        let second = try Program("gotchu-server", arguments)
        #expect(try await second.exitCode() == 69)
        #expect(second.text.contains("serves these books already"), "\(second.text)")
        let migration = try Program(
            "gotchu-server",
            ["migrate", "--database", "sqlite:\(server.path)"]
        )
        #expect(try await migration.exitCode() == 69, "migrate ran while a server uses the tables")
        #expect(try await server.wire.get("/readyz").status == 200)
        server.program.signal(SIGKILL)
        try await server.program.exitCode()
        _ = try await ServerProcess(folder: server.folder)
    }

    @Test("A port in use gives exit code 69, and a database of another program gives 65")
    func taken() async throws {
        let server = try await ServerProcess()
        let address = String(server.wire.base.dropFirst("http://".count))
        let second = try Program(
            "gotchu-server",
            ["--listen", address, "--database", database]
        )
        #expect(try await second.exitCode() == 69)
        #expect(second.text.contains("Another program listens at \(address) already."))
        let note = folder.path + "/note.db"
        try Connection(path: note, mode: .create).execute("CREATE TABLE note (text TEXT)")
        let foreign = try await ServerProcess.run("verify", "--database", "sqlite:\(note)")
        #expect(foreign.code == 65)
    }

    @Test("Without --dev, development logins and their tokens are refused")
    func withoutDev() async throws {
        let server = try await ServerProcess(opening: 0)
        let payee = try await server.wire.login("payee")
        #expect(try await server.stop() == 0)
        let program = try Program(
            "gotchu-server",
            ["--listen", "127.0.0.1:0", "--database", "sqlite:\(server.path)"]
        )
        let port = try await eventually("the server listens; its output: \(program.text)") {
            program.text.firstMatch(of: /listening on http:\/\/127\.0\.0\.1:([0-9]+)\n/)?.output.1
        }
        #expect(program.text.contains("Only registered devices can log in"))
        let wire = Wire(base: "http://127.0.0.1:\(port)")
        #expect(try await wire.get("/wallet/me", token: payee).status == 401)
        let login = try await wire.post("/auth/dev-login", #"{"email":"a@b.example"}"#)
        #expect(login.status == 404)
    }

    @Test(
        "Only the owner can read the database and the secret; a secret open to others is refused"
    )
    func privacy() async throws {
        let server = try await ServerProcess()
        #expect(try await server.stop() == 0)
        for file in [server.path, server.path + ".dev-secret"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file)")
        }
        for file in [server.path, server.path + ".dev-secret"] { chmod(file, 0o644) }
        let program = try Program(
            "gotchu-server",
            ["--listen", "127.0.0.1:0", "--database", "sqlite:\(server.path)", "--dev"]
        )
        #expect(try await program.exitCode() == 74)
        #expect(program.text.contains("Others than its owner may read it"))
        #expect(program.text.contains("may read the wallets: chmod 600"), "\(program.text)")
    }
}
