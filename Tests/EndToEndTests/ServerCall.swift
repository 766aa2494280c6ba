import Foundation
import TestSupport

/// Calls to the payment server without a daemon, as a user's own program makes them.
enum ServerCall {
    private struct Login: Decodable {
        let token: String
    }

    /// Logs a user in and returns the token.
    static func login(_ url: String, _ name: String) async throws -> String {
        let body = #"{"email":"\#(name)@example.com"}"#
        let login: Login = try await post(url, "/auth/dev-login", body)
        return login.token
    }

    static func post<Reply: Decodable>(
        _ url: String,
        _ path: String,
        _ body: String,
        token: String? = nil,
        key: String = UUID().uuidString
    ) async throws -> Reply {
        let authorization = token.map { ["--header", "Authorization: Bearer \($0)"] } ?? []
        let curl = try Program(
            "/usr/bin/curl",
            [
                "--silent", "--max-time", "20", "--header", "Content-Type: application/json",
                "--header", "Idempotency-Key: \(key)", "--data", body, url + path,
            ] + authorization
        )
        _ = try await curl.exitCode()
        return try JSONDecoder().decode(Reply.self, from: Data(curl.text.utf8))
    }
}
