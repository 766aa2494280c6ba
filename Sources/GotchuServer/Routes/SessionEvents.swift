internal import FoundationEssentials
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import NIOCore

/// Pushes a session's changes as server-sent events (WHATWG HTML, "Server-sent events"): first the
/// whole state, then each newer one, until the session is over.
struct SessionEvents: Sendable {
    /// What a client should wait before it reconnects.
    private static let reconnectMilliseconds = 1_000

    let ledger: Ledger
    let tokens: Tokens
    let limits: Limits

    @Sendable func follow(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await tokens.user(of: request)
        try limits.allowCall(by: user)
        let sid = try SessionRoutes.session(in: context)
        // Watching starts before reading, so that no change falls between the two.
        guard let changes = ledger.feed.watch(sid) else {
            throw Problem(.rateLimited, detail: "Too many follow sessions at this moment.")
                .retry(after: 5)
        }
        let session = try await ledger.session(sid, visibleTo: user).accepted()
        let seen = request.headers[.lastEventID].flatMap { Int64($0) }
        if session.status.isFinal, seen == session.version {
            // 204 tells an EventSource to stop reconnecting: it has seen the end.
            return Response(status: .noContent)
        }
        let first = seen == session.version ? nil : session
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                try await writer.write(Self.opening)
                try await Self.push(first, then: changes, seenBy: user, to: &writer)
                try await writer.finish(nil)
            }
        )
    }

    private static let opening = ByteBuffer(string: "retry: \(reconnectMilliseconds)\n\n")

    /// Ends with the session, when the reader may no longer see it, and at shutdown.
    ///
    /// Without news a comment goes out now and then, so that proxies keep the stream and a lost
    /// client is noticed.
    @concurrent private static func push(
        _ first: Session?,
        then changes: SessionWatch,
        seenBy user: UserID,
        to writer: inout any ResponseBodyWriter
    ) async throws {
        var version: Int64 = 0
        if let first {
            try await writer.write(event(first))
            version = first.version
            if first.status.isFinal { return }
        }
        for await news in changes {
            guard let session = news.session else {
                try await writer.write(ByteBuffer(string: ":\n\n"))
                continue
            }
            guard session.isVisible(to: user) else { return }
            guard session.version > version else { continue }
            version = session.version
            try await writer.write(event(session))
            if session.status.isFinal { return }
        }
    }

    private static func event(_ session: Session) throws -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var buffer = ByteBuffer(string: "id: \(session.version)\ndata: ")
        buffer.writeBytes(try encoder.encode(SessionReply(session)))
        buffer.writeString("\n\n")
        return buffer
    }
}
