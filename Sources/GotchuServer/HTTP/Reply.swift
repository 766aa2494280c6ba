internal import FoundationEssentials
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import NIOCore

/// JSON replies. Their members are sorted, so equal replies have equal bytes.
enum Reply {
    static func json(_ value: some Encodable) throws -> Response {
        try buffered(value).response
    }

    static func problem(_ problem: Problem, headers: HTTPFields) throws -> BufferedReply {
        try buffered(
            problem,
            status: HTTPResponse.Status(code: problem.status),
            headers: headers,
            contentType: "application/problem+json"
        )
    }

    /// Renders the reply to a command with an idempotency key. Replays have the same bytes and the
    /// header `Idempotent-Replayed`.
    ///
    /// - Parameter isRepeated: True if the command's effect existed before, through any key. The
    ///   reply then also has that header.
    /// - Throws: The refusal as a problem. A remembered one has the id of its first request.
    static func answer<Outcome>(
        _ answer: CommandReply<Outcome>,
        isRepeated: Bool = false,
        _ rendered: (Outcome) async throws -> BufferedReply
    ) async throws -> Response {
        let isReplay = answer.isReplay || isRepeated
        switch answer.outcome {
        case .success(let outcome):
            var reply = try await rendered(outcome)
            if isReplay { reply.headers[.idempotentReplayed] = "true" }
            return reply.response
        case .failure(let refusal):
            guard answer.isRemembered else { throw refusal.thrown }
            var problem = refusal.problem
            problem.requestID = answer.requestID
            throw ProblemWithHeaders(
                problem: problem,
                headers: isReplay ? [.idempotentReplayed: "true"] : [:]
            )
        }
    }

    static func buffered(
        _ value: some Encodable,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:],
        contentType: String = "application/json"
    ) throws -> BufferedReply {
        let body = ByteBuffer(bytes: try CanonicalJSON.encode(value))
        var headers = headers
        headers[.contentType] = contentType
        headers[.cacheControl] = "no-store"
        headers[.contentLength] = String(body.readableBytes)
        return BufferedReply(status: status, headers: headers, body: body)
    }
}

/// A reply whose whole body is known. It is not to be cached (`Cache-Control: no-store`).
struct BufferedReply: Sendable {
    let status: HTTPResponse.Status
    var headers: HTTPFields
    let body: ByteBuffer

    var response: Response {
        Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}

extension Problem {
    /// Returns the problem with a `Retry-After` of at least one second.
    func retry(after seconds: Int) -> ProblemWithHeaders {
        ProblemWithHeaders(problem: self, headers: [.retryAfter: String(max(1, seconds))])
    }
}

/// A problem with additional headers.
struct ProblemWithHeaders: Error {
    let problem: Problem
    let headers: HTTPFields
}
