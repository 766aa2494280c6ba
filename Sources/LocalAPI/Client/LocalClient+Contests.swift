import FoundationEssentials
package import GotchuAPI
import NIOCore
import NIOHTTP1

extension LocalClient {
    /// Makes a contest call.
    ///
    /// - Returns: The document with its bytes; `nil` if the caller's copy is current.
    package func contest<Document: ContestDocument>(
        _ call: ContestCall,
        as type: Document.Type
    ) async throws -> ContestReply<Document>? {
        let (body, tag) = try await exchange(call)
        guard !body.isEmpty else { return nil }
        return try ContestReply(document: Self.decode(body), bytes: [UInt8](body), tag: tag)
    }

    /// Makes a contest call that returns no document.
    package func contest(_ call: ContestCall) async throws {
        _ = try await exchange(call)
    }

    private func exchange(_ call: ContestCall) async throws -> (body: Data, tag: String?) {
        try await withReply(
            HTTPMethod(rawValue: call.method.rawValue),
            "/v1/contests\(call.path)",
            bytes: call.body,
            headers: call.headers,
            limit: Self.serverBoundLimit
        ) { head, parts, deadline in
            defer { deadline.cancel() }
            return (try await Self.readBody(&parts), head.headers.first(name: "ETag"))
        }
    }
}

/// A contest document: decoded, and as the received bytes.
package struct ContestReply<Document: ContestDocument>: Sendable {
    package let document: Document
    package let bytes: [UInt8]
    /// The document's tag. If it is sent as `ContestCall.knownTag`, the document is returned only
    /// if it has changed.
    package let tag: String?
}
