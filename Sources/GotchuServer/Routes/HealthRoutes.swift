internal import Hummingbird

/// The routes for monitoring.
struct HealthRoutes: Sendable {
    private struct Status: Encodable {
        let status: String
    }

    /// The routes that balancers and monitors ask for, with the metrics.
    static let paths = ["/healthz", "/readyz", "/metrics"]

    let readiness: Readiness

    /// Answers 200 while the process runs.
    @Sendable func alive(_ request: Request, _ context: ServerContext) async throws -> Response {
        try Reply.json(Status(status: "ok"))
    }

    /// Answers 200 if the database accepts writes; otherwise throws a problem.
    @Sendable func ready(_ request: Request, _ context: ServerContext) async throws -> Response {
        try await readiness.check()
        return try Reply.json(Status(status: "ready"))
    }
}
