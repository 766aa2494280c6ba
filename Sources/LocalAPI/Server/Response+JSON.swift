import FoundationEssentials
import GotchuAPI
import HTTPTypes
import HummingbirdCore
import NIOCore

extension Response {
    /// A JSON reply.
    static func json(
        _ value: some Encodable,
        status: HTTPResponse.Status = .ok,
        contentType: String = "application/json"
    ) -> Response {
        var buffer = ByteBuffer(bytes: encodeLine(value))
        buffer.writeInteger(UInt8(ascii: "\n"))
        return Response(
            status: status,
            headers: [.contentType: contentType],
            body: ResponseBody(byteBuffer: buffer)
        )
    }

    static func problem(_ problem: Problem) -> Response {
        json(
            problem,
            status: .init(code: problem.status),
            contentType: "application/problem+json"
        )
    }

    /// One line of JSON, without its line feed.
    static func encodeLine(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else {
            preconditionFailure("our own wire types can always be encoded")
        }
        return [UInt8](data)
    }
}
