internal import Hummingbird

/// For those who watch over the server, and for those who program against it.
struct HealthRoutes: Sendable {
    private struct Status: Encodable {
        let status: String
    }

    let readiness: Readiness

    /// The process answers.
    @Sendable func alive(_ request: Request, _ context: ServerContext) async throws -> Response {
        try Reply.json(Status(status: "ok"))
    }

    /// The books can be written.
    @Sendable func ready(_ request: Request, _ context: ServerContext) async throws -> Response {
        try await readiness.check()
        return try Reply.json(Status(status: "ready"))
    }

    /// The contract.
    @Sendable func description(
        _ request: Request,
        _ context: ServerContext
    ) async throws -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/yaml"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: OpenAPI.document))
        )
    }
}
