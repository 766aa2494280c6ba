package import AsyncHTTPClient
package import NIOCore

/// A way to send one HTTP request to the payment server and get its reply.
package protocol HTTPTransport: Sendable {
    /// - Parameter timeout: The maximum time from the connection attempt to the reply's head.
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
