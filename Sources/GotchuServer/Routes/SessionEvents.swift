internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Payments

/// Streams a session's changes: first the whole state, then each newer one, until the session is
/// final.
struct SessionEvents: Sendable {
    let ledger: Ledger
    let authentication: CallerAuthentication

    @Sendable func follow(_ request: Request, _ context: ServerContext) async throws -> Response {
        let login = try await authentication.login(of: request)
        // For a payer, a group's id stands for their own share.
        let sid = try await ledger.subject(of: SessionRoutes.session(in: context), login.user)
        // The watch starts before the read, so that no change in between is missed.
        let watch = try ledger.feed.begin(by: login) { (feed, login) throws(ChangeFeedFull) in
            try feed.watch(RecordID(sid), by: login)
        }
        let session = try await ledger.session(sid, visibleTo: login.user).accepted()
        let isSeen = request.headers[.lastEventID].flatMap { Int64($0) } == session.version
        let stream = SessionStream(
            watch,
            user: login.user,
            session: session,
            desk: try await desk(of: session, login)
        )
        var events = EventReply.beginning
        if !isSeen { events.writeImmutableBuffer(try stream.first) }
        if session.status.isFinal {
            // 204 stops an EventSource from reconnecting: it already has the final state.
            return isSeen
                ? Response(status: .noContent)
                : Response(
                    status: .ok,
                    headers: EventReply.headers,
                    body: ResponseBody(byteBuffer: events)
                )
        }
        return EventReply.response(events, then: stream)
    }

    /// Returns the contest that a session is the desk of, with a watch.
    private func desk(of session: Session, _ login: Login) async throws -> SessionStream.Desk? {
        guard let id = session.figures?.sale else { return nil }
        // Without a watch, if there are too many, its places would soon be out of date.
        guard let watch = try? ledger.feed.watch(id, by: login.description),
            let contest = try await ledger.contest(enteredAt: session)
        else { return nil }
        return SessionStream.Desk(ledger: ledger, watch: watch, contest: contest)
    }
}
