internal import FoundationEssentials
internal import GotchuAPI
internal import Hummingbird
internal import NIOCore

/// Replies in JSON. Members are sorted, so that the same reply is always the same bytes.
enum Reply {
    static let problemType = "application/problem+json"

    static func json(
        _ value: some Encodable,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:],
        contentType: String = "application/json"
    ) throws -> Response {
        var headers = headers
        headers[.contentType] = contentType
        headers[.cacheControl] = "no-store"
        return Response(
            status: status,
            headers: headers,
            body: ResponseBody(byteBuffer: try bytes(of: value))
        )
    }

    static func bytes(of value: some Encodable) throws -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ByteBuffer(bytes: try encoder.encode(value))
    }

    static func problem(
        _ problem: Problem,
        headers: HTTPFields = [:]
    ) throws -> Response {
        try json(
            problem,
            status: HTTPResponse.Status(code: problem.status),
            headers: headers,
            contentType: problemType
        )
    }
}

extension Problem {
    /// The same problem with when to come back.
    func retry(after seconds: Int) -> Refused {
        Refused(problem: self, headers: [.retryAfter: String(max(1, seconds))])
    }
}

/// A problem that has something to say in the headers as well.
struct Refused: Error {
    let problem: Problem
    let headers: HTTPFields
}
