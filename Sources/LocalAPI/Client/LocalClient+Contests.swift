import FoundationEssentials
package import GotchuAPI
import GotchuCore
import NIOCore
import NIOHTTP1

extension LocalClient {
    /// Makes a call of contests.
    ///
    /// - Returns: The document with its bytes; `nil` if the caller has it already.
    package func contest<Document: ContestDocument>(
        _ call: ContestCall,
        as type: Document.Type
    ) async throws -> ContestReply<Document>? {
        let (body, tag) = try await exchange(call)
        guard !body.isEmpty else { return nil }
        return try ContestReply(document: Self.decode(body), bytes: [UInt8](body), tag: tag)
    }

    /// Makes a call of contests that no document answers.
    package func contest(_ call: ContestCall) async throws {
        _ = try await exchange(call)
    }

    private func exchange(_ call: ContestCall) async throws -> (body: Data, tag: String?) {
        let headers = [
            (IdempotencyHeader.key, call.key?.rawValue), ("Accept-Language", call.language),
            ("If-None-Match", call.knownTag),
        ].compactMap { name, value in value.map { (name, $0) } }
        return try await withReply(
            HTTPMethod(rawValue: call.method.rawValue),
            "/v1/contests\(call.path)",
            bytes: call.body,
            headers: headers,
            limit: Self.serverBoundLimit
        ) { head, parts, deadline in
            defer { deadline.cancel() }
            return (try await Self.wholeBody(&parts), head.headers.first(name: "ETag"))
        }
    }
}

/// A document of contests as it came.
package struct ContestReply<Document: ContestDocument>: Sendable {
    package let document: Document
    package let bytes: [UInt8]
    /// The tag by which the caller can ask if it has changed.
    package let tag: String?
}
