internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import NIOCore
internal import Payments

/// The events of a session after the version that the client has. The stream also ends if the
/// session is final or the client may no longer see it.
struct SessionStream: WatchStream {
    let watch: Watch<Record>
    let access: TokenAccess
    var isOver = false
    /// The last session state that was sent.
    private var session: SessionReply
    /// The contest that the session is the desk of, if any.
    private var desk: Desk?

    /// A contest with its watch. A change of the contest is an event of its desk.
    struct Desk: Sendable {
        let ledger: Ledger
        let watch: Watch<Record>?
        var contest: Contest
        var isChanged = false

        fileprivate var shown: DeskContest { DeskContest(contest, at: ledger.now) }
    }

    init(_ watch: Watch<Record>, access: TokenAccess, session: Session, desk: Desk?) {
        self.watch = watch
        self.access = access
        self.session = SessionReply(session)
        self.desk = desk
    }

    /// The event of the initial state.
    var first: ByteBuffer {
        get throws { try event(session, isNew: true) }
    }

    /// - Parameter isNew: False if the client has this version. The event then has no id, and the
    ///   client keeps its last event id.
    private func event(_ session: SessionReply, isNew: Bool) throws -> ByteBuffer {
        var session = session
        session.contest = desk?.shown
        return try EventReply.event(session, with: isNew ? "id: \(session.version)" : nil)
    }

    func listen(_ onUpdate: @escaping @Sendable () -> Void) {
        watch.listen(onUpdate)
        desk?.watch?.listen(onUpdate)
    }

    mutating func next() -> ReplyPiece? {
        if case .changed(let record, _)? = desk?.watch?.next(), let contest = try? Contest(record) {
            desk?.contest = contest
            desk?.isChanged = true
        }
        if let piece = nextState() { return piece }
        guard desk?.isChanged == true, let event = try? event(session, isNew: false) else {
            return nil
        }
        desk?.isChanged = false
        return .bytes(event)
    }

    mutating func piece(_ record: Record, noticedAt: Timestamp?) -> ReplyPiece? {
        // A payer's device is reported only while the session is advertised.
        let noticedAt = record.state == SessionStatus.advertising.rawValue ? noticedAt : nil
        let isNew = record.version > session.version
        guard isNew || noticedAt != nil && record.version == session.version else { return nil }
        // If the session cannot be read or shown, the stream ends. The client reconnects and gets
        // the problem as a reply.
        guard let shown = try? Session.shown(record), shown.isVisible(to: access.login.user)
        else {
            return .end
        }
        session = SessionReply(shown)
        var reply = session
        reply.noticedAt = noticedAt
        guard let event = try? event(reply, isNew: isNew) else { return .end }
        desk?.isChanged = false
        isOver = session.status.isFinal
        return .bytes(event)
    }
}
