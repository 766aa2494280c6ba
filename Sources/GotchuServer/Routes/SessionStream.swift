internal import FoundationEssentials
internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import NIOCore
internal import Payments

/// A session's events after the version that the client knows, until the session is final, the
/// client may no longer see it, or the program stops.
struct SessionStream: ReplyStream {
    /// The sign of life: proxies keep the stream, and a lost client is noticed.
    private static let comment = ByteBuffer(string: ":\n\n")

    private let watch: RecordWatch
    private let user: UserID
    /// The version of the session that was sent last.
    private var version: Int64
    private var isOver = false

    init(_ watch: RecordWatch, user: UserID, version: Int64) {
        self.watch = watch
        self.user = user
        self.version = version
    }

    static func event(_ session: Session) throws -> ByteBuffer {
        var buffer = ByteBuffer(string: "id: \(session.version)\ndata: ")
        buffer.writeBytes(try CanonicalJSON.encode(SessionReply(session)))
        buffer.writeString("\n\n")
        return buffer
    }

    func listen(_ onNews: @escaping @Sendable () -> Void) {
        watch.listen(onNews)
    }

    /// Returns the newest state alone, however many there were before it.
    mutating func next() -> ReplyPiece? {
        while !isOver {
            switch watch.next() {
            case nil: return nil
            case .quiet: return .bytes(Self.comment)
            case .over: isOver = true
            case .changed(let record):
                guard record.version > version else { continue }
                // Otherwise the stream ends: the client connects again, and gets the problem as an
                // answer.
                guard let session = try? Session(record), session.isVisible(to: user),
                    let event = try? Self.event(session)
                else { return end() }
                version = session.version
                isOver = session.status.isFinal
                return .bytes(event)
            }
        }
        return .end
    }

    private mutating func end() -> ReplyPiece {
        isOver = true
        return .end
    }
}
