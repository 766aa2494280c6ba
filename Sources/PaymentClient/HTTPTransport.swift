package import AsyncHTTPClient
package import NIOCore

/// The way of one HTTP request to the payment server and of its reply back.
package protocol HTTPTransport: Sendable {
    /// - Parameter timeout: From connecting to the reply's head.
    func execute(
        _ request: HTTPClientRequest,
        timeout: TimeAmount
    ) async throws -> HTTPClientResponse
}

extension HTTPClient: HTTPTransport {
    package func execute(
        _ request: HTTPClientRequest,
        timeout: TimeAmount
    ) async throws -> HTTPClientResponse {
        try await execute(request, timeout: timeout, logger: nil)
    }
}
