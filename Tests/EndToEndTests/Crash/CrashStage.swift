import Foundation
import GotchuAPI
import GotchuCore
import Synchronization
import TestSupport
import Testing

/// A payment server, a kiosk and a payer. Tests kill and restart these programs.
final class CrashStage: Sendable {
    static let openingBalance = 1_000_000

    let folder: TemporaryFolder
    let kiosk: Part
    let payer: Part
    let server: Part
    private let port: Int
    var url: String { "http://127.0.0.1:\(port)" }

    /// A program and its planned faults.
    final class Part: Sendable {
        let name: String
        let faults: Faults
        let program = Mutex<Program?>(nil)
        private let settings: [String: String]

        /// - Parameter settings: The program's environment variables.
        init(
            _ name: String,
            in folder: String,
            _ settings: [String: String] = [:]
        ) async throws {
            self.name = name
            self.settings = settings
            faults = try await Faults(name, in: folder)
        }

        var environment: [String: String] {
            faults.environment.merging(settings) { $1 }
        }
    }

    /// - Parameter settings: The kiosk's environment variables.
    init(kiosk settings: [String: String] = [:]) async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        kiosk = try await Part("kiosk", in: folder.path, settings)
        payer = try await Part("payer", in: folder.path)
        server = try await Part("server", in: folder.path)
        let program = try Self.serve("127.0.0.1:0", folder.path, server.faults)
        server.program.withLock { $0 = program }
        let url = try await Self.address(of: program)
        port = try #require(url.split(separator: ":").last.flatMap { Int($0) })
        for device in [kiosk, payer] {
            try await revive()
            let login = LocalLogin(devEmail: "\(device.name)@example.com")
            let status: StatusReply = try await call(device, "POST", "/v1/login", login)
            #expect(status.server.isLoggedIn)
        }
    }

    /// Restarts the programs that have died.
    func revive() async throws {
        for part in [server, kiosk, payer] where !isRunning(part) {
            try await start(part)
        }
    }

    func start(_ part: Part) async throws {
        if part.name == server.name {
            // The server also writes when it starts. These writes must not trigger planned faults.
            let planned = part.faults.pending.split(separator: "\n").map(String.init)
            part.faults.clear()
            let program = try Self.serve("127.0.0.1:\(port)", folder.path, part.faults)
            part.program.withLock { $0 = program }
            _ = try await Self.address(of: program)
            try part.faults.plan(planned)
            return
        }
        let program = try Program(
            "gotchud",
            [
                "--socket", socket(part), "--state", "\(folder.path)/\(part.name)",
                "--server", url, "--radio", "simulated:\(folder.path)/air@0,0", "--log-level",
                "debug",
            ],
            environment: part.environment
        )
        part.program.withLock { $0 = program }
        try await eventually("\(part.name) answers; it said: \(program.text)") {
            guard isRunning(part) else { return true }
            return try? await exchange(part, "GET", "/v1/status", nil as String?) == nil
                ? nil : true
        }
    }

    /// Plans a kill for each step. A kill of the server during a lock or a send is planned late:
    /// the payer's fault library adds it to the server's plan before the payer makes the call.
    ///
    /// - Parameter end: The state in which the kiosk's request ends.
    func arm(_ steps: [CrashStep], end: String = "paid") throws {
        let (ending, own) = (#""state":"paid""#, #""state":"\#(end)""#)
        for step in steps {
            switch (step.role, step.payersMoment) {
            case (.kiosk, _): try kiosk.faults.plan([step.line.replacing(ending, with: own)])
            case (.payer, _): break
            case (.server, nil): try server.faults.plan([step.line])
            case (.server, let moment?):
                let line = step.line.replacing("\t", with: "|")
                try payer.faults.plan(["\(moment)\ttell\t\(server.faults.plan)\t\(line)"])
            }
        }
        try payer.faults.plan(steps.filter { $0.role == .payer }.map(\.line))
    }

    /// Waits until all planned kills have happened. A kill at the last sync may happen after the
    /// payment has ended.
    func expectKills(_ name: String) async throws {
        for part in [kiosk, payer, server] {
            try await eventually(
                "\(name): \(part.name) was killed as planned",
                within: .seconds(20)
            ) {
                try await revive()
                return part.faults.pending.isEmpty ? true : nil
            }
        }
    }

    func kill(_ part: Part) async throws {
        let program = part.program.withLock { $0 }
        program?.signal(SIGKILL)
        try await program?.exitCode()
    }

    func isRunning(_ part: Part) -> Bool {
        part.program.withLock { $0?.isRunning ?? false }
    }

    /// Repeats a call with the same key until the daemon answers, as a till does.
    func untilAnswered<Reply: Decodable>(
        _ part: Part,
        _ path: String,
        _ body: some Encodable,
        key: String
    ) async throws -> Reply {
        try await eventually("\(path) is answered") {
            try await revive()
            let answer = try await exchange(part, "POST", path, body, key: key)
            guard let answer, answer.status < 500 else { return nil }
            if answer.status >= 400 {
                throw try JSONDecoder().decode(Problem.self, from: answer.body)
            }
            return try JSONDecoder().decode(Reply.self, from: answer.body)
        }
    }

    /// Repeats a GET until its answer meets a condition.
    func until<Reply: Decodable>(
        _ what: String,
        _ part: Part,
        _ path: String,
        _ condition: (Reply) -> Bool
    ) async throws -> Reply {
        try await eventually("\(what); the log: \(log(part).suffix(2000))", within: .seconds(90)) {
            try await revive()
            guard let answer = try await exchange(part, "GET", path, nil as String?),
                answer.status == 200
            else { return nil }
            let reply = try JSONDecoder().decode(Reply.self, from: answer.body)
            return condition(reply) ? reply : nil
        }
    }

    func call<Reply: Decodable>(
        _ part: Part,
        _ method: String,
        _ path: String,
        _ body: (some Encodable)?
    ) async throws -> Reply {
        let answer = try #require(try await exchange(part, method, path, body))
        if answer.status >= 400 {
            throw try JSONDecoder().decode(Problem.self, from: answer.body)
        }
        return try JSONDecoder().decode(Reply.self, from: answer.body)
    }

    func balance(_ part: Part) async throws -> Int64 {
        let wallet: WalletReply = try await until("a balance", part, "/v1/wallet") { _ in true }
        return wallet.availableCents.value
    }

    func log(_ part: Part) -> String { part.program.withLock { $0?.text ?? "" } }

    /// Checks the database with `gotchu-server verify`.
    func expectBooksBalance() async throws {
        let database = "sqlite:\(folder.path)/books.db"
        let proof = try Program("gotchu-server", ["verify", "--database", database])
        #expect(try await proof.exitCode() == 0, "\(proof.text)")
    }

    private func socket(_ part: Part) -> String { "\(folder.path)/\(part.name).sock" }

    private func exchange(
        _ part: Part,
        _ method: String,
        _ path: String,
        _ body: (some Encodable)?,
        key: String? = nil
    ) async throws -> (status: Int, body: Data)? {
        let bytes = try body.map { try JSONEncoder().encode($0) }
        return try await UnixHTTP.call(socket(part), method, path, bytes, key: key)
    }

    private static func serve(
        _ address: String,
        _ folder: String,
        _ faults: Faults
    ) throws -> Program {
        try Program(
            "gotchu-server",
            [
                "serve", "--listen", address, "--database", "sqlite:\(folder)/books.db", "--dev",
                "--dev-opening-balance", "\(openingBalance)", "--contests",
            ],
            environment: faults.environment
        )
    }

    private static func address(of program: Program) async throws -> String {
        try await eventually("the server listens; it said: \(program.text)") {
            program.text.split(separator: "\n").first { $0.hasPrefix("listening on ") }
                .map { String($0.dropFirst("listening on ".count)) }
        }
    }
}
