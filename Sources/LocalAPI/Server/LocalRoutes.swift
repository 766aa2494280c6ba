import GotchuAPI
import GotchuCore
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import ServiceLifecycle

/// All routes of the daemon's socket, each with the level that its caller needs.
struct LocalRoutes {
    let backend: any LocalBackend
    let hub: EventHub

    func add(to router: Router<LocalContext>) {
        let table = LevelledRouter(router: router)
        table.add(.observer, .get, "/v1/status") { _, _ in .json(await backend.status()) }
        table.add(.observer, .get, "/v1/sessions") { _, _ in
            .json(await backend.presences(afterListening: true))
        }
        table.addStream(.observer, .get, "/v1/events") { request, context in
            try await events(request, context)
        }
        table.add(.observer, .get, "/metrics") { _, _ in .metrics(await backend.metrics()) }
        addCalibration(to: table)
        addRequests(to: table)
        addPayments(to: table)
        table.add(.owner, .get, "/v1/bugreport") { _, _ in .json(await backend.bugReport()) }
        table.addStream(.owner, .get, "/v1/recording") { request, _ in
            try await recording(request)
        }
        table.add(.owner, .post, "/v1/reload") { _, _ in .json(try await backend.reload()) }
        table.refuseOtherMethods()
    }

    private func addCalibration(to table: LevelledRouter) {
        table.add(.observer, .get, "/v1/calibration") { _, _ in
            .json(await backend.calibrations())
        }
        table.add(.owner, .put, "/v1/calibration") { request, _ in
            let new = try NewCalibration(try await fields(request))
            return .json(try await backend.calibrate(new))
        }
        table.add(.owner, .delete, "/v1/calibration") { _, _ in
            .json(try await backend.resetCalibration())
        }
    }

    private func addRequests(to table: LevelledRouter) {
        table.add(.cashier, .post, "/v1/requests") { request, _ in
            let new = try NewRequest(try await fields(request))
            let created = try await backend.requests.create(new, key: try key(of: request))
            return .created(created, status: .created)
        }
        table.add(.cashier, .get, "/v1/requests") { _, _ in
            .json(RequestsReply(requests: await backend.requests.views()))
        }
        table.add(.cashier, .get, "/v1/requests/{id}") { _, context in
            .json(try await backend.requests.view(of: try sessionID(context)))
        }
        table.add(.cashier, .delete, "/v1/requests/{id}") { _, context in
            .json(try await backend.requests.cancel(try sessionID(context)))
        }
    }

    private func addPayments(to table: LevelledRouter) {
        table.add(.spender, .post, "/v1/payments") { request, _ in
            let new = try NewPayment(try await fields(request))
            let created = try await backend.payments.create(new, key: try key(of: request))
            return .created(created, status: .accepted)
        }
        table.add(.spender, .post, "/v1/refunds") { request, _ in
            let new = try NewRefund(try await fields(request))
            return .created(try await backend.createRefund(new), status: .accepted)
        }
        table.add(.spender, .get, "/v1/payments") { _, _ in
            .json(PaymentsReply(payments: await backend.payments.views()))
        }
        table.add(.spender, .get, "/v1/payments/{id}") { _, context in
            .json(try await backend.payments.view(of: try context.parameters.require("id")))
        }
        table.add(.spender, .delete, "/v1/payments/{id}") { _, context in
            .json(try await backend.payments.cancel(try context.parameters.require("id")))
        }
        table.add(.spender, .post, "/v1/resolve") { request, _ in
            let body = try ResolveRequest(try await fields(request))
            return .json(try await backend.resolve(body.eid))
        }
        table.add(.spender, .get, "/v1/wallet") { _, _ in .json(try await backend.wallet()) }
        table.add(.spender, .post, "/v1/login") { request, _ in
            let login = try LocalLogin(try await fields(request))
            try await backend.logins.logIn(login)
            return .json(await backend.status())
        }
        table.add(.spender, .delete, "/v1/login") { _, _ in
            try await backend.logins.logOut()
            return .json(await backend.status())
        }
    }

    /// `GET /v1/events`: the snapshot, then what changes, one JSON object a line. With
    /// `sessions=true` also what is heard, for which the radio listens.
    ///
    /// The reader is subscribed before the snapshot is made, so nothing falls between the two; an
    /// event that is also in the snapshot says the same again.
    private func events(_ request: Request, _ context: LocalContext) async throws -> Response {
        let topics = EventTopic.readable(
            by: context.levels,
            wantsSessions: try wantsSessions(request)
        )
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
        // Not only when the next line cannot be written: its place is another's from now on.
        context.channel.closeFuture.whenComplete { _ in reader.end() }
        let snapshot = Event.Snapshot(
            status: await backend.status(),
            sessions: topics.contains(.sessions)
                ? await backend.presences(afterListening: false).sessions : [],
            requests: topics.contains(.requests) ? await backend.requests.views() : [],
            payments: topics.contains(.payments) ? await backend.payments.views() : []
        )
        return Response(
            status: .ok,
            headers: [.contentType: "application/x-ndjson"],
            body: ResponseBody { writer in
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

    private func wantsSessions(_ request: Request) throws -> Bool {
        guard let text = request.uri.queryParameters["sessions"] else { return false }
        guard let isWanted = Bool(String(text)) else {
            throw Problem(.validationError, detail: "sessions must be true or false.")
        }
        return isWanted
    }

    /// `GET /v1/recording?seconds=N`: a line of JSON for each thing that the radio notices.
    private func recording(_ request: Request) async throws -> Response {
        let seconds = request.uri.queryParameters["seconds"].flatMap { Int($0) }
        guard let seconds, (1...LocalAPIVersion.longestRecordingSeconds).contains(seconds) else {
            throw Problem(
                .validationError,
                detail: "seconds must be 1 to \(LocalAPIVersion.longestRecordingSeconds)."
            )
        }
        let lines = try await backend.recording(seconds: seconds)
        return Response(
            status: .ok,
            headers: [.contentType: "application/x-ndjson"],
            body: ResponseBody { writer in
                for await line in lines.cancelOnGracefulShutdown() {
                    var buffer = ByteBuffer(bytes: line)
                    buffer.writeInteger(UInt8(ascii: "\n"))
                    try await writer.write(buffer)
                }
                try await writer.finish(nil)
            }
        )
    }

    private func sessionID(_ context: LocalContext) throws -> SessionID {
        guard let id = SessionID(rawValue: try context.parameters.require("id")) else {
            throw Problem(.notFound, detail: "There is no request of that name.")
        }
        return id
    }

    private func key(of request: Request) throws -> IdempotencyKey? {
        guard let text = request.headers[.idempotencyKey] else { return nil }
        guard let key = IdempotencyKey(header: text) else {
            throw Problem(
                .validationError,
                detail: "An Idempotency-Key is 16 to 255 visible ASCII characters."
            )
        }
        return key
    }

    private func fields(_ request: Request) async throws -> JSONFields {
        let buffer = try await request.body.collect(upTo: LocalContext.bodyLimit)
        return try JSONFields(Array(buffer.readableBytesView))
    }
}

/// A router that cannot be given a route without its level.
private final class LevelledRouter {
    private let router: Router<LocalContext>
    /// The methods of each address.
    private var methods: [String: [HTTPRequest.Method]] = [:]

    init(router: Router<LocalContext>) {
        self.router = router
    }

    /// Adds a route; a `GET` with the `HEAD` that belongs to it (RFC 9110, 9.3.2), whose body the
    /// middleware removes.
    func add(
        _ level: AccessLevel,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ handler: @escaping @Sendable (Request, LocalContext) async throws -> Response
    ) {
        addStream(level, method, path, handler)
        if method == .get { addStream(level, .head, path, handler) }
    }

    /// Adds a route whose reply does not end by itself, and so has no head without it.
    func addStream(
        _ level: AccessLevel,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ handler: @escaping @Sendable (Request, LocalContext) async throws -> Response
    ) {
        methods[path, default: []].append(method)
        router.on(RouterPath(path), method: method) { request, context in
            guard context.levels.contains(level) else { throw context.refusal(of: level) }
            return try await handler(request, context)
        }
    }

    /// Adds to each address the refusal of all other methods, which names those that it has.
    func refuseOtherMethods() {
        let all: [HTTPRequest.Method] = [
            .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect,
        ]
        for (path, own) in methods {
            let allowed = own.map(\.rawValue).joined(separator: ", ")
            for method in all where !own.contains(method) {
                router.on(RouterPath(path), method: method) { _, _ in
                    var response = Response.problem(
                        Problem(.methodNotAllowed, detail: "This address takes \(allowed) only.")
                    )
                    response.headers[.allow] = allowed
                    return response
                }
            }
        }
    }
}
