internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import NIOCore
internal import Payments

/// A session's events after the version that the client knows, until the session is final, the
/// client may no longer see it, or the program stops.
struct SessionStream: WatchStream {
    let watch: Watch<Record>
    var isOver = false
    private let user: UserID
    /// The version of the session that was sent last.
    private var version: Int64

    init(_ watch: Watch<Record>, user: UserID, version: Int64) {
        self.watch = watch
        self.user = user
        self.version = version
    }

    static func event(_ session: Session) throws -> ByteBuffer {
        try event(SessionReply(session), isNew: true)
    }

    /// - Parameter isNew: False for a state that the client has: without an id it stays the last
    ///   one.
    private static func event(_ session: SessionReply, isNew: Bool) throws -> ByteBuffer {
        try EventReply.event(session, with: isNew ? "id: \(session.version)" : nil)
    }

    mutating func piece(_ record: Record, noticedAt: Timestamp?) -> ReplyPiece? {
        // A device matters while the session waits for one.
        let noticedAt = record.state == SessionStatus.advertising.rawValue ? noticedAt : nil
        let isNew = record.version > version
        guard isNew || noticedAt != nil && record.version == version else { return nil }
        // Otherwise the stream ends: the client connects again, and gets the problem as an answer.
        guard let session = try? Session.shown(record), session.isVisible(to: user) else {
            return .end
        }
        var reply = SessionReply(session)
        reply.noticedAt = noticedAt
        guard let event = try? Self.event(reply, isNew: isNew) else { return .end }
        version = session.version
        isOver = session.status.isFinal
        return .bytes(event)
    }
}
