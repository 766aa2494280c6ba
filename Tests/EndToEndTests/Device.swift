import Foundation
import GotchuAPI
import GotchuCore
import LocalAPI
import Synchronization
import TestSupport
import Testing

/// A running gotchud on the simulated air, and calls to its socket.
final class Device: Sendable {
    let name: String
    let socket: String
    private let shop: Shop
    private let program = Mutex<Program?>(nil)

    init(name: String, shop: Shop) {
        self.name = name
        self.shop = shop
        socket = "\(shop.folder.path)/\(name).sock"
    }

    /// - Parameter wrapper: A program that executes the daemon, with its own arguments.
    func start(
        at position: String = "0,0",
        extra: [String] = [],
        through wrapper: [String] = []
    ) async throws {
        let command = wrapper + [Program.folder.appendingPathComponent("gotchud").path]
        let started = try Program(
            command[0],
            command.dropFirst() + [
                "--socket", socket, "--state", "\(shop.folder.path)/\(name)", "--server", shop.url,
                "--radio", "simulated:\(shop.air)@\(position)", "--log-level", "debug",
            ] + extra
        )
        program.withLock { $0 = started }
        try await eventually("\(name) answers; it said: \(started.text)") {
            try? await self.get("/v1/status", as: StatusReply.self)
        }
    }

    private var running: Program {
        get throws {
            let program = program.withLock { $0 }
            return try #require(program)
        }
    }

    var processID: Int32 { get throws { try running.processID } }

    func log() throws -> String { try running.text }

    func signal(_ signal: Int32) throws { try running.signal(signal) }

    /// The path of its radio's socket on the simulated air.
    func radioPath() throws -> String { "\(shop.air)/\(try running.processID).radio" }

    func exitCode() async throws -> Int32 { try await running.exitCode() }

    /// Moves the device on the simulated air.
    func move(to position: String) throws {
        let file = "air/\(try running.processID).position"
        _ = try shop.folder.write(position, to: file)
    }

    func logIn() async throws {
        let status: StatusReply = try await call(
            "POST",
            "/v1/login",
            LocalLogin(devEmail: "\(name)@example.com")
        )
        #expect(status.server.isLoggedIn)
    }

    func balance() async throws -> Int64 {
        try await get("/v1/wallet", as: WalletReply.self).availableCents.value
    }

    func verdict(on eid: EID) async throws -> Verdict? {
        try await get("/v1/sessions", as: PresencesReply.self).sessions
            .first { $0.eid == eid }?.verdict
    }

    func get<Reply: Decodable>(_ path: String, as type: Reply.Type) async throws -> Reply {
        try await call("GET", path, nil as String?)
    }

    /// Calls the daemon as another user. This needs root.
    func curl(
        as userID: Int,
        _ path: String,
        _ arguments: [String] = []
    ) async throws -> String {
        let curl = try start(
            as: userID,
            ["/usr/bin/curl", "--silent", "--max-time", "20", "--unix-socket", socket]
                + arguments + ["http://gotchu\(path)"]
        )
        try await curl.exitCode(within: .seconds(25))
        return curl.text
    }

    /// Opens connections as another user, sends a part of a request on each, and keeps them open.
    func hold(_ count: Int, as userID: Int) throws -> Program {
        let script = """
            import socket, sys, time
            held = []
            for _ in range(int(sys.argv[2])):
                held.append(socket.socket(socket.AF_UNIX))
                held[-1].connect(sys.argv[1])
                try: held[-1].send(b"GET /v1/sta")
                except OSError: pass
            time.sleep(600)
            """
        return try start(as: userID, ["/usr/bin/python3", "-c", script, socket, "\(count)"])
    }

    /// Connects to the socket as another user. Returns how often the kernel refused it.
    func refusals(of count: Int, as userID: Int, group: Int? = nil) async throws -> Int {
        let script = """
            import socket, sys
            refused = 0
            for _ in range(int(sys.argv[2])):
                with socket.socket(socket.AF_UNIX) as one:
                    try: one.connect(sys.argv[1])
                    except PermissionError: refused += 1
            print(refused)
            """
        let program = try start(
            as: userID,
            group: group,
            ["/usr/bin/python3", "-c", script, socket, "\(count)"]
        )
        try await program.exitCode()
        return try #require(Int(program.text.filter { !$0.isNewline }), "\(program.text)")
    }

    private func start(
        as userID: Int,
        group: Int? = nil,
        _ command: [String]
    ) throws -> Program {
        // Every user can reach the socket's folder, so only the socket and the daemon can refuse.
        chmod(shop.folder.path, 0o711)
        let user = ["--reuid=\(userID)", "--regid=\(group ?? userID)", "--clear-groups"]
        return try Program("/usr/bin/setpriv", user + command)
    }

    /// Makes a call with curl, as a till's software does.
    ///
    /// - Throws: The `Problem` in the answer, or `NeverHappened` if the daemon does not answer.
    func call<Reply: Decodable>(
        _ method: String,
        _ path: String,
        _ body: (some Encodable)?,
        key: String? = nil
    ) async throws -> Reply {
        var arguments = [
            "--silent", "--max-time", "20", "--unix-socket", socket, "--request", method,
            "--write-out", "\n%{http_code}", "http://gotchu\(path)",
        ]
        if let body {
            arguments += [
                "--data", String(decoding: try JSONEncoder().encode(body), as: UTF8.self),
            ]
        }
        if let key { arguments += ["--header", "Idempotency-Key: \(key)"] }
        let curl = try Program("/usr/bin/curl", arguments)
        guard try await curl.exitCode(within: .seconds(25)) == 0 else {
            throw NeverHappened(description: "\(method) \(path) was not answered")
        }
        let parts = curl.text.split(separator: "\n")
        let status = try #require(parts.last.flatMap { Int($0) }, "\(curl.text)")
        let data = Data(parts.dropLast().joined(separator: "\n").utf8)
        if status >= 400 { throw try JSONDecoder().decode(Problem.self, from: data) }
        return try JSONDecoder().decode(Reply.self, from: data)
    }
}
