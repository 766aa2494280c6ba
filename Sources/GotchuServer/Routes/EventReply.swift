internal import FoundationEssentials
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import NIOCore

/// A reply of server-sent events (WHATWG HTML, "Server-sent events"): what is known at once, then
/// a stream.
enum EventReply {
    static let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
    /// The time that a client should wait before it reconnects.
    private static let reconnectMilliseconds = 1_000

    /// The beginning of a reply.
    static var beginning: ByteBuffer {
        ByteBuffer(string: "retry: \(reconnectMilliseconds)\n\n")
    }

    /// An event whose data is a value in JSON.
    ///
    /// - Parameter field: Another line of it, such as its id.
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

/// A stream of the events that a watch brings.
protocol WatchStream: ReplyStream {
    associatedtype State: Watched

    var watch: Watch<State> { get }
    /// A Boolean that is true if no event follows the last one.
    var isOver: Bool { get set }
    /// A Boolean that is true if its reader may be told no more. It is asked at least each 15
    /// seconds.
    var isEnded: Bool { get }

    /// Returns a state's event, or the stream's end; `nil` if the client has this state.
    mutating func piece(_ state: State, noticedAt: Timestamp?) -> ReplyPiece?
}

extension WatchStream {
    var isEnded: Bool { false }

    /// The sign of life: proxies keep the stream, and a lost client is noticed.
    private static var comment: ByteBuffer { ByteBuffer(string: ":\n\n") }

    func listen(_ onNews: @escaping @Sendable () -> Void) {
        watch.listen(onNews)
    }

    mutating func next() -> ReplyPiece? { nextState() }

    /// Returns the newest state alone, however many there were before it.
    mutating func nextState() -> ReplyPiece? {
        while !isOver, !isEnded {
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
    /// Begins a watch for a login.
    ///
    /// - Throws: A problem, 429, if there are too many.
    func begin<State>(
        by login: Login,
        _ watch: (ChangeFeed, String) throws(ChangeFeedFull) -> Watch<State>
    ) throws -> Watch<State> {
        do throws(ChangeFeedFull) {
            return try watch(self, login.description)
        } catch {
            let detail =
                switch error {
                case .ofLogin:
                    "This device or login follows as many sessions and wallets as it may: "
                        + "\(watchersPerLogin)."
                case .ofAll: "Too many follow sessions and wallets at this moment."
                }
            throw Problem(.rateLimited, detail: detail).retry(after: 5)
        }
    }
}
