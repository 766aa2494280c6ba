internal import FoundationEssentials
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import NIOCore

/// A reply of server-sent events (WHATWG HTML, "Server-sent events"). It contains the current state
/// first, then a stream.
enum EventReply {
    static let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
    /// The time that a client should wait before it reconnects.
    private static let reconnectMilliseconds = 1_000

    /// The start of every reply: the reconnect delay.
    static var beginning: ByteBuffer {
        ByteBuffer(string: "retry: \(reconnectMilliseconds)\n\n")
    }

    /// Returns an event whose data is a value in JSON.
    ///
    /// - Parameter field: A line before the data, such as the event's id.
    static func event(_ value: some Encodable, with field: String? = nil) throws -> ByteBuffer {
        var buffer = ByteBuffer(string: field.map { "\($0)\ndata: " } ?? "data: ")
        buffer.writeBytes(try CanonicalJSON.encode(value))
        buffer.writeString("\n\n")
        return buffer
    }

    static func response(_ first: ByteBuffer, then stream: some ReplyStream) -> Response {
        Response(
            status: .ok,
            headers: headers,
            body: ResponseBody { writer in
                try await writer.write(first)
                (writer as? ReplyBody)?.stream = stream
            }
        )
    }
}

/// A stream of the events from a watch. It ends if the client's token expires or the server stops.
protocol WatchStream: ReplyStream {
    associatedtype State: Watched

    var watch: Watch<State> { get }
    /// A Boolean that is true if no event follows.
    var isOver: Bool { get set }
    /// The client's access. It is checked at least every 15 seconds. Once it has expired, the
    /// client reconnects with another token.
    var access: TokenAccess { get }

    /// Returns a state's event, or the stream's end; `nil` if the client already has this state.
    ///
    /// - Parameter noticedAt: The time at which a payer's device was at the till; `nil` if this is
    ///   not new.
    mutating func piece(_ state: State, noticedAt: Timestamp?) -> ReplyPiece?
}

extension WatchStream {
    /// The keep-alive. It makes proxies keep the stream open, and it detects a lost client.
    private static var comment: ByteBuffer { ByteBuffer(string: ":\n\n") }

    func listen(_ onUpdate: @escaping @Sendable () -> Void) {
        watch.listen(onUpdate)
    }

    mutating func next() -> ReplyPiece? { nextState() }

    /// Returns the event of the newest state, a keep-alive, or the stream's end; `nil` if there is
    /// none of them yet. Earlier states are skipped.
    mutating func nextState() -> ReplyPiece? {
        while !isOver, !access.isExpired {
            switch watch.next() {
            case nil: return nil
            case .quiet: return .bytes(Self.comment)
            case .over: isOver = true
            case .changed(let state, let noticedAt):
                if let piece = piece(state, noticedAt: noticedAt) { return piece }
            }
        }
        return .end
    }
}

extension ChangeFeed {
    /// Starts a watch for a login.
    ///
    /// - Throws: A problem: 429 if this login or all logins together have too many watches.
    func begin<State>(
        by login: Login,
        _ watch: (ChangeFeed, String) throws(ChangeFeedFull) -> Watch<State>
    ) throws -> Watch<State> {
        do throws(ChangeFeedFull) {
            return try watch(self, login.description)
        } catch {
            let detail =
                switch error {
                case .perLogin:
                    "This device or login follows as many sessions and wallets as it may: "
                        + "\(watchersPerLogin)."
                case .allLogins: "Too many follow sessions and wallets at this moment."
                }
            throw Problem(.rateLimited, detail: detail).retry(after: 5)
        }
    }
}
