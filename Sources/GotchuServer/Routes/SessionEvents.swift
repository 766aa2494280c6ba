internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Payments

/// Streams a session's changes: first the current state, then newer states, until the session is
/// final.
struct SessionEvents: Sendable {
    let ledger: Ledger
    let authentication: CallerAuthentication

    @Sendable func follow(_ request: Request, _ context: ServerContext) async throws -> Response {
        let access = try await authentication.access(of: request)
        let login = access.login
        // If the caller is a payer of a group, the group's id stands for the caller's share.
        let sid = try await ledger.subject(of: SessionRoutes.session(in: context), login.user)
        // The watch starts before the read. Thus no change between the two is missed.
        let watch = try ledger.feed.begin(by: login) { (feed, login) throws(ChangeFeedFull) in
            try feed.watch(RecordID(sid), by: login)
        }
        let session = try await ledger.session(sid, visibleTo: login.user).accepted()
        let isSeen = request.headers[.lastEventID].flatMap { Int64($0) } == session.version
        let stream = SessionStream(
            watch,
            access: access,
            session: session,
            desk: try await desk(of: session, login)
        )
        var events = EventReply.beginning
        if !isSeen { events.writeImmutableBuffer(try stream.first) }
        if session.status.isFinal {
            // If the client has the final state, 204 stops its EventSource from reconnecting.
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

    /// Returns the contest whose desk a session is, with a watch; `nil` if the session is no desk
    /// or there are too many watches.
    private func desk(of session: Session, _ login: Login) async throws -> SessionStream.Desk? {
        guard let id = session.figures?.sale else { return nil }
        // Without a watch the contest's places would soon be out of date.
        guard let watch = try? ledger.feed.watch(id, by: login.description),
            let contest = try await ledger.contest(enteredAt: session)
        else { return nil }
        return SessionStream.Desk(ledger: ledger, watch: watch, contest: contest)
    }
}
