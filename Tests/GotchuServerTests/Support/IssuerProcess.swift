import Foundation
import TestSupport

/// An OpenID issuer in Python (PyJWT) that generates its keys when it starts.
struct IssuerProcess {
    static let name = "https://issuer.example"

    private let program: Program
    let wire: Wire

    /// The URL of the issuer's public keys.
    var keys: String { wire.base + "/jwks.json" }

    /// The arguments that make a server trust the issuer.
    var arguments: [String] {
        ["--oidc-issuer", Self.name, "--oidc-audience", "gotchu", "--oidc-jwks", keys]
    }

    init() async throws {
        let program = try await Python.run("issuer.py")
        self.program = program
        let port = try await eventually("the issuer listens; its output: \(program.text)") {
            program.text.firstMatch(of: /listening ([0-9]+)\n/)?.output.1
        }
        wire = Wire(base: "http://127.0.0.1:\(port)", isValidated: false)
    }

    /// Returns a valid token with the changes in `more`: members of a request to `issuer.py`.
    func token(_ more: String = "") async throws -> String {
        try await made(#"{"op":"token"\#(more.isEmpty ? "" : ",")\#(more)}"#)
    }

    /// Returns a token with any header, payload and signature, chosen by members of the request.
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
            throw NeverHappened(description: "the issuer answers \(body) with 200: \(program.text)")
        }
        return reply
    }

    var fetches: Int64? {
        get async throws { try await act(#"{"op":"fetches"}"#).integer("fetches") }
    }
}
