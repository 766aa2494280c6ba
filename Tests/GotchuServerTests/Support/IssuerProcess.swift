import Foundation
import TestSupport

/// An OpenID issuer in Python (PyJWT) that makes its keys when it starts.
struct IssuerProcess {
    static let name = "https://issuer.example"

    private let program: Program
    let wire: Wire

    /// The URL of its public keys.
    var keys: String { wire.base + "/jwks.json" }

    /// The arguments that make a server trust it.
    var arguments: [String] {
        ["--oidc-issuer", Self.name, "--oidc-audience", "gotchu", "--oidc-jwks", keys]
    }

    init() async throws {
        let program = try await Python.run("issuer.py")
        self.program = program
        let port = try await eventually("the issuer listens; it said: \(program.text)") {
            program.text.firstMatch(of: /listening ([0-9]+)\n/)?.output.1
        }
        wire = Wire(base: "http://127.0.0.1:\(port)", isJudged: false)
    }

    /// Returns a token that is valid except for the changes in `more`, which `issuer.py` defines.
    func token(_ more: String = "") async throws -> String {
        try await made(#"{"op":"token"\#(more.isEmpty ? "" : ",")\#(more)}"#)
    }

    /// Returns a forged token.
    func forge(_ members: String) async throws -> String {
        try await made(#"{"op":"forge",\#(members)}"#)
    }

    private func made(_ body: String) async throws -> String {
        let token = try await act(body).string("token")
        guard !token.isEmpty else {
            throw NeverHappened(description: "the issuer makes a token: \(body)")
        }
        return token
    }

    @discardableResult
    func act(_ body: String) async throws -> WireReply {
        let reply = try await wire.post("/do", body)
        guard reply.status == 200 else {
            throw NeverHappened(description: "the issuer does it: \(body): \(program.text)")
        }
        return reply
    }

    var fetches: Int64? {
        get async throws { try await act(#"{"op":"fetches"}"#).integer("fetches") }
    }
}
