internal import FoundationEssentials
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import NIOCore
internal import ServiceLifecycle
internal import Synchronization

/// Pushes a session's changes as server-sent events (WHATWG HTML, "Server-sent events"): first the
/// whole state, then each newer one, until the session is over.
struct SessionEvents: Sendable {
    /// A comment goes out this often, so that proxies keep the stream and a lost client is noticed.
    private static let keepAlive: Duration = .seconds(15)
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
    @concurrent private static func push(
        _ first: Session?,
        then changes: AsyncStream<Session>,
        seenBy user: UserID,
        to writer: inout any ResponseBodyWriter
    ) async throws {
        var version: Int64 = 0
        if let first {
            try await writer.write(event(first))
            version = first.version
            if first.status.isFinal { return }
        }
        let latest = Latest()
        let (ticks, tick) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        // Both end with this function: a child that is not awaited is cancelled at its end.
        async let _: Void = {
            for await session in changes.cancelOnGracefulShutdown() {
                latest.put(session)
                tick.yield()
            }
            tick.finish()
        }()
        async let _: Void = {
            while !Task.isCancelled {
                try? await Task.sleep(for: keepAlive)
                tick.yield()
            }
        }()
        for await _ in ticks {
            guard let session = latest.take() else {
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

    /// The newest state that has not been written yet: a slow reader misses what lies between,
    /// never the end.
    private final class Latest: Sendable {
        private let session = Mutex<Session?>(nil)

        func put(_ new: Session) { session.withLock { $0 = new } }

        func take() -> Session? { session.withLock { $0.take() } }
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
