import FoundationEssentials
package import GotchuAPI
import GotchuCore
package import HTTPTypes
package import HummingbirdCore
import NIOCore

extension Response {
    /// Creates a JSON reply.
    package static func json(
        _ value: some Encodable,
        status: HTTPResponse.Status = .ok,
        contentType: String = "application/json"
    ) -> Response {
        var buffer = ByteBuffer(bytes: CanonicalJSON.bytes(of: value))
        buffer.writeInteger(UInt8(ascii: "\n"))
        return Response(
            status: status,
            headers: [.contentType: contentType],
            body: ResponseBody(byteBuffer: buffer)
        )
    }

    /// Creates the reply to a call that creates an object. A header marks the reply if an earlier
    /// call created the object.
    package static func created(
        _ created: Created<some Encodable & Sendable>,
        status: HTTPResponse.Status
    ) -> Response {
        var response = json(created.view, status: status)
        if created.isReplay { response.headers[.idempotentReplayed] = "true" }
        return response
    }

    /// Creates a reply in Prometheus's text format.
    static func metrics(_ page: String) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: page))
        )
    }

    package static func problem(_ problem: Problem) -> Response {
        json(
            problem,
            status: .init(code: problem.status),
            contentType: "application/problem+json"
        )
    }
}

extension HTTPField.Name {
    static var idempotencyKey: HTTPField.Name { valid(IdempotencyHeader.key) }
    static var idempotentReplayed: HTTPField.Name { valid(IdempotencyHeader.replayed) }

    /// Returns a header name. The text must be a valid name.
    package static func valid(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("a valid field name") }
        return name
    }
}
