import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// A daemon's port for tills, and the calls of a till's page to it.
struct TillPort {
    let device: Device
    let origin: String
    var token: String?

    /// Starts a daemon that has a port for tills. It is not logged in, and no till is paired.
    static func start(_ device: Device, of shop: Shop) async throws -> TillPort {
        let file = try shop.folder.write(
            #"{"screens": {"till": "127.0.0.1:0", "shop": "Corner <Cafe>"}}"#,
            to: "\(device.name).json"
        )
        try await device.start(extra: ["--config", file])
        let origin = try await eventually("the till's port is open") {
            try device.log().firstMatch(of: /url=(http:\/\/127\.0\.0\.1:[0-9]+)\/till/)
                .map { String($0.output.1) }
        }
        return TillPort(device: device, origin: origin, token: nil)
    }

    /// Pairs a till under a name, and returns the port with the till's token.
    func paired(_ name: String, refunds: String? = nil) async throws -> TillPort {
        let offer = try await post("/v1/pairings", "{}", as: PairingOffer.self)
        let limit = refunds.map { ["--refunds", $0] } ?? []
        let run = try await ctl(["till", "pair", offer.code, "--name", name] + limit)
        #expect(run.code == 0 && run.text.contains("Paired · \(name)"), "\(run.text)")
        let ticket = #"{"ticket": "\#(offer.ticket)"}"#
        let outcome = try await post("/v1/pairings/outcome", ticket, as: PairingOutcome.self)
        #expect(outcome.state == .paired)
        let token = try #require(outcome.token)
        var paired = self
        paired.token = token
        return paired
    }

    func ctl(_ arguments: [String]) async throws -> (code: Int32, text: String) {
        let program = try Program("gotchu-ctl", ["--socket", device.socket] + arguments)
        let code = try await program.exitCode()
        return (code, program.text)
    }

    /// Makes a call of the till's page, with the fields that a browser sends.
    func call(
        _ method: String,
        _ path: String,
        _ body: String? = nil,
        key: String? = nil
    ) async throws -> (status: Int, text: String) {
        var arguments = [
            "--silent", "--max-time", "20", "--request", method, "--write-out", "\n%{http_code}",
            "--header", "Sec-Fetch-Site: same-origin",
        ]
        if method != "GET" {
            arguments += ["--header", "Origin: \(origin)"]
            arguments += ["--header", "Content-Type: application/json"]
        }
        if let token { arguments += ["--header", "Authorization: Bearer \(token)"] }
        if let key { arguments += ["--header", "Idempotency-Key: \(key)"] }
        if let body { arguments += ["--data", body] }
        let curl = try Program("/usr/bin/curl", arguments + [origin + path])
        #expect(try await curl.exitCode(within: .seconds(25)) == 0, "\(curl.text)")
        let lines = curl.text.split(separator: "\n", omittingEmptySubsequences: false)
        let status = try #require(lines.last.flatMap { Int($0) })
        return (status, lines.dropLast().joined(separator: "\n"))
    }

    func post<Reply: Decodable>(
        _ path: String,
        _ body: String,
        key: String? = nil,
        as type: Reply.Type
    ) async throws -> Reply {
        let (status, text) = try await call("POST", path, body, key: key)
        try #require(status < 300, "\(text)")
        return try JSONDecoder().decode(Reply.self, from: Data(text.utf8))
    }

    func problem(
        _ method: String,
        _ path: String,
        _ body: String? = nil
    ) async throws -> ErrorCode? {
        let (status, text) = try await call(method, path, body)
        try #require(status >= 400, "\(text)")
        return try JSONDecoder().decode(Problem.self, from: Data(text.utf8)).errorCode
    }
}
