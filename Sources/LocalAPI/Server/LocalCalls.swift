package import GotchuAPI
import GotchuCore
import HTTPTypes
import Hummingbird
package import HummingbirdCore
import NIOCore
import ServiceLifecycle

/// The calls that the socket and the till's port share.
package struct LocalCalls: Sendable {
    package let backend: any LocalBackend
    let hub: EventHub

    package init(backend: any LocalBackend, hub: EventHub) {
        self.backend = backend
        self.hub = hub
    }

    package func createRequest(_ request: Request) async throws -> Response {
        let new = try NewRequest(try await fields(request))
        let created = try await backend.requests.create(new, key: try key(of: request))
        return .created(created, status: .created)
    }

    package func requests() async -> Response {
        .json(RequestsReply(requests: await backend.requests.views()))
    }

    package func request(_ context: LocalContext) async throws -> Response {
        .json(try await backend.requests.view(of: try sessionID(context)))
    }

    package func cancelRequest(_ context: LocalContext) async throws -> Response {
        .json(try await backend.requests.cancel(try sessionID(context)))
    }

    package func refreshRequest(_ context: LocalContext) async throws -> Response {
        .json(try await backend.refreshRequest(try sessionID(context)))
    }

    package func newRefund(_ request: Request) async throws -> NewRefund {
        try NewRefund(try await fields(request))
    }

    /// Returns the report of the day that the request's parameters select.
    package func report(_ request: Request) async throws -> ReportReply {
        let parameters = request.uri.queryParameters
        let day = parameters["day"].map { CalendarDay(String($0)) }
        let zone = parameters["zone"].map { TimeZoneName(String($0)) }
        if case .some(nil) = day {
            throw Problem.invalid("day must be a date such as 2026-11-21.")
        }
        if case .some(nil) = zone {
            throw Problem.invalid("zone must be the name of a time zone, such as Europe/Berlin.")
        }
        return try await backend.report(day: day ?? nil, zone: zone ?? nil)
    }

    func earnings(_ request: Request) async throws -> EarningsReply {
        try await backend.earnings(try Self.selection(of: request, defaultPeriod: .month))
    }

    func earningsHistory(_ request: Request) async throws -> EarningsHistoryReply {
        let parameters = request.uri.queryParameters
        let limit = parameters["limit"].map { Int64($0) ?? 0 } ?? 25
        guard (1...100).contains(limit) else {
            throw Problem.invalid("limit must be a whole number from 1 to 100.")
        }
        return try await backend.earningsHistory(
            try Self.selection(of: request, defaultPeriod: .all),
            limit: limit,
            cursor: parameters["cursor"].map { String($0) }
        )
    }

    private static func selection(
        of request: Request,
        defaultPeriod: EarningsPeriod
    ) throws(Problem) -> EarningsSelection {
        let parameters = request.uri.queryParameters
        return try EarningsSelection(
            { name in parameters[Substring(name)].map { String($0) } },
            defaultPeriod: defaultPeriod
        )
    }

    /// Reads the members of a request's body.
    package func fields(_ request: Request) async throws -> JSONFields {
        let buffer = try await request.body.collect(upTo: LocalContext.bodyLimit)
        return try JSONFields(Array(buffer.readableBytesView))
    }

    /// Streams a till's events: the snapshot, then changes, one JSON object per line. The stream
    /// has no presences and no payments, but it has refunds.
    ///
    /// - Parameter admit: Checks the till's access again after the reader is subscribed. From then
    ///   on, the end of all readers also ends this one.
    package func tillEvents(
        _ context: LocalContext,
        admit: () throws(Problem) -> Void
    ) async throws -> Response {
        try await events([.status, .requests, .refunds], context, admit: admit)
    }

    /// Streams the snapshot, then changes, one JSON object per line.
    ///
    /// The reader is subscribed before the snapshot is made. No event between the two is lost, but
    /// an event may also be in the snapshot.
    func events(
        _ topics: Set<EventTopic>,
        _ context: LocalContext,
        admit: () throws(Problem) -> Void = {}
    ) async throws -> Response {
        guard let caller = context.caller,
            let reader = hub.subscribe(topics: topics, userID: caller.peer.userID)
        else {
            throw Problem(
                .rateLimited,
                detail: "A user may have \(EventHub.userLimit) readers of events, all together "
                    + "\(EventHub.readerLimit).",
                fix: "Close readers that are not needed."
            )
        }
        // Releases the reader's slot as soon as the connection closes, without waiting for a failed
        // write.
        context.channel.closeFuture.whenComplete { _ in reader.end() }
        do {
            try admit()
        } catch {
            reader.end()
            throw error
        }
        let snapshot = Event.Snapshot(
            status: await backend.status(),
            sessions: topics.contains(.sessions)
                ? await backend.presences(afterListening: false).sessions : [],
            requests: topics.contains(.requests) ? await backend.requests.views() : [],
            payments: topics.contains(.refunds)
                ? await backend.payments.views().filter { topics.contains($0.topic) } : []
        )
        return Response(
            status: .ok,
            headers: [.contentType: "application/x-ndjson"],
            body: ResponseBody { [hub] writer in
                let first = EventLine.bytes(of: .snapshot(snapshot))
                try await withGracefulShutdownHandler {
                    try await writer.write(ByteBuffer(bytes: first))
                    try await reader.write(to: &writer, countingIn: hub)
                } onGracefulShutdown: {
                    reader.end()
                }
                try await writer.finish(nil)
            }
        )
    }

    private func sessionID(_ context: LocalContext) throws -> SessionID {
        guard let id = SessionID(rawValue: try context.parameters.require("id")) else {
            throw Problem(.notFound, detail: "There is no request with that id.")
        }
        return id
    }

    func key(of request: Request) throws -> IdempotencyKey? {
        guard let text = request.headers[.idempotencyKey] else { return nil }
        guard let key = IdempotencyKey(header: text) else {
            throw Problem.invalid("An Idempotency-Key is 16 to 255 visible ASCII characters.")
        }
        return key
    }
}
