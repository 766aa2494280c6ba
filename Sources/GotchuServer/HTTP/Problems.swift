internal import GotchuAPI
internal import GotchuCore
internal import HTTPTypes
internal import Hummingbird
internal import Ledger
internal import Logging
internal import ServiceProcess

/// The outermost middleware. It gives each request an id, turns errors into problem documents or
/// pages, and counts and logs the replies.
struct Problems: RouterMiddleware {
    /// The longest request id that is accepted from a client, in bytes.
    private static let maximumRequestIDLength = 64
    private static let retryAfterSeconds = 1
    /// The throttle of a warning about the configuration, which does not change by itself.
    private static let unnamedClients = LogThrottle(period: .seconds(3_600))
    /// A log throttle for each error code. Thus frequent failures do not hide rare ones.
    private static let ledgerFailures = Dictionary(
        uniqueKeysWithValues: LedgerError.Code.allCases.map { ($0, LogThrottle()) }
    )

    private let metrics: RequestMetrics
    private let tokens: Tokens
    /// The proxies whose `X-Forwarded-For` is trusted.
    private let proxies: TrustedProxies
    /// A Boolean that is true if browsers get web pages.
    private let hasPages: Bool

    init(metrics: RequestMetrics, tokens: Tokens, options: ServerOptions) {
        self.metrics = metrics
        self.tokens = tokens
        proxies = options.limits.proxies
        hasPages = options.web != nil
    }

    func handle(
        _ request: Request,
        context: ServerContext,
        next: @concurrent (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.requestID = Self.requestID(of: request)
        context.client = client(of: request, context)
        let note = RateLimitStatus()
        let named = context
        let start = MonotonicTime.now
        var response: Response
        do {
            response = try await RateLimitStatus.$current.withValue(note) {
                try await next(request, named)
            }
        } catch {
            let isForgotten = error as? Problem == .unknownUser && tokens.forgetUser(of: request)
            let error = isForgotten ? LedgerError.lostUser : error
            response =
                hasPages && WebPath.isPage(request.uri.path)
                ? Self.page(about: error, request, context)
                : try Self.reply(to: error, named: context.requestID, context.log).response
        }
        let route = context.endpointPath
        metrics.recordDuration(.now - start, of: route)
        Self.name(&response.headers, context.requestID, note)
        record(response.status, to: request.head, on: route, context.requestID, context.logger)
        return response
    }

    /// Adds the headers of every reply: the request id and the state of the rate limit.
    static func name(_ headers: inout HTTPFields, _ requestID: String, _ note: RateLimitStatus) {
        headers[.requestID] = requestID
        for field in note.headers { headers[field.name] = field.value }
    }

    /// Counts a reply, and logs it at the debug level.
    ///
    /// - Parameter route: The router's pattern; `nil` if no route matches.
    func record(
        _ status: HTTPResponse.Status,
        to head: HTTPRequest,
        on route: String?,
        _ requestID: String,
        _ logger: Logger
    ) {
        metrics.countReply(route, status.code)
        guard logger.logLevel <= .debug else { return }
        ServerContext.log(logger, requestID).debug(
            "A request was answered.",
            metadata: [
                "method": "\(head.method.rawValue)",
                "route": "\(route ?? "none")",
                "status": "\(status.code)",
            ]
        )
    }

    /// Returns the client's address for rate limits. If a trusted proxy does not name the client,
    /// this is the proxy's, and a warning says why all clients may seem to be one. A balancer asks
    /// for the monitoring routes itself, and names nobody.
    private func client(of request: Request, _ context: ServerContext) -> ClientAddress {
        let client = proxies.client(of: request, from: context.client)
        guard let text = client.unreadable,
            !(text.isEmpty && HealthRoutes.paths.contains(context.endpointPath ?? ""))
        else { return client.address }
        context.log.log(
            level: Self.unnamedClients.level(.warning),
            "A trusted proxy's X-Forwarded-For does not name the client, so its limit counts.",
            metadata: ["proxy": "\(client.address)", "value": "\(text)"]
        )
        return client.address
    }

    /// Returns the problem document for an error.
    static func reply(
        to error: any Error,
        named requestID: String,
        _ logger: Logger
    ) throws -> BufferedReply {
        var refused = refused(error, logger)
        // A remembered refusal keeps the id of the request that it first answered.
        if refused.problem.requestID == nil { refused.problem.requestID = requestID }
        return try Reply.problem(refused.problem, headers: refused.headers)
    }

    /// Returns the web page for an error.
    private static func page(
        about error: any Error,
        _ request: Request,
        _ context: ServerContext
    ) -> Response {
        var (problem, headers) = refused(error, context.log)
        if error is LedgerError {
            problem = Problem(.tryAgain, detail: unreachable(request), retryable: true)
        }
        problem.requestID = problem.requestID ?? context.requestID
        let page = WebPage.problem(problem, of: request)
        var response = page.response(status: HTTPResponse.Status(code: problem.status))
        headers[.wwwAuthenticate] = nil
        for field in headers { response.headers[field.name] = field.value }
        return response
    }

    /// Returns the sentence of a page shown when the database fails. For a form it says that the
    /// outcome is unknown: this form or an earlier copy of it may have been carried out.
    private static func unreachable(_ request: Request) -> String {
        let end =
            if WebPath.isResult(request.uri.path) {
                "It is not known yet whether this was paid: please do not pay again."
            } else if request.method == .get {
                "Nothing is lost."
            } else {
                "It is not known whether this was done: look before you repeat it."
            }
        return "The books cannot be reached just now. \(end)"
    }

    /// Returns the problem and headers that the caller gets for an error. Details that the caller
    /// must not see are logged.
    static func refused(
        _ error: any Error,
        _ logger: Logger
    ) -> (problem: Problem, headers: HTTPFields) {
        switch error {
        case let problem as Problem:
            return (problem, [:])
        case let refused as ProblemWithHeaders:
            return (refused.problem, refused.headers)
        case let error as HTTPError:
            return (problem(for: error), error.headers)
        case let error as LedgerError:
            // While the database is down, every request fails, so these warnings are throttled.
            // Unknown outcomes are logged each time.
            let throttle = error.code == .unknownOutcome ? nil : ledgerFailures[error.code]
            logger.log(
                level: throttle?.level(.warning) ?? .warning,
                "The ledger failed.",
                metadata: ["error": "\(error)"]
            )
            let problem = Problem(
                .tryAgain,
                detail: error.code == .unknownOutcome
                    ? "It is not known whether this was done: send the same request again, with "
                        + "the same Idempotency-Key if it has one."
                    : "The books cannot be reached just now. Nothing was decided.",
                retryable: true
            )
            return (problem, [.retryAfter: String(retryAfterSeconds)])
        default:
            logger.error("A request failed.", metadata: ["error": "\(error)"])
            return (
                Problem(.internalError, detail: "Something failed here, not at your side."), [:]
            )
        }
    }

    /// Translates the router's errors.
    private static func problem(for error: HTTPError) -> Problem {
        switch error.status {
        case .notFound: Problem(.notFound, detail: "There is nothing at this address.")
        case .contentTooLarge: .tooLarge(Request.bodyLimit)
        default: .invalid("The request cannot be understood.")
        }
    }

    /// Returns the id of a request: the client's if it is acceptable, otherwise a new one. An
    /// acceptable id is short and safe in a log.
    static func requestID(of request: Request) -> String {
        if let given = request.headers[.requestID],
            (1...maximumRequestIDLength).contains(given.utf8.count),
            given.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") })
        {
            return given
        }
        return makeRequestID()
    }

    /// Makes an id for a request without one.
    static func makeRequestID() -> String {
        String(UInt64.random(in: .min ... .max), radix: 36)
    }
}

extension LedgerError {
    /// The failure for a user that the ledger does not have any more. The user's next call inserts
    /// the user again.
    fileprivate static let lostUser = LedgerError(
        .tryAgain,
        "The database no longer has this user of the OpenID issuer."
    )
}

extension Problem {
    static let unknownUser = Refusal(.unknownUser).problem

    /// The problem for a body for which there is no memory.
    static let noBodyMemory = Problem(
        .tryAgain,
        detail: "Too many large bodies are being received. Nothing was decided.",
        retryable: true
    )

    /// Returns the problem for a body that is too large.
    ///
    /// - Parameter limit: The largest body, in bytes.
    static func tooLarge(_ limit: Int) -> Problem {
        Problem(.contentTooLarge, detail: "A body may have at most \(limit / 1024) KiB.")
    }
}

extension HTTPField.Name {
    static let requestID = known("X-Request-ID")
    static let idempotencyKey = known("Idempotency-Key")
    static let idempotentReplayed = known("Idempotent-Replayed")
    static let forwarded = known("Forwarded")
    static let forwardedFor = known("X-Forwarded-For")
    static let realIP = known("X-Real-IP")
    static let lastEventID = known("Last-Event-ID")
    static let stripeSignature = known("Stripe-Signature")
    static let userID = known("X-User-Id")

    /// Returns a header's name. Callers store the name as a constant, because validation is slow.
    ///
    /// - Precondition: `name` is a valid header name.
    static func known(_ name: String) -> HTTPField.Name {
        guard let field = HTTPField.Name(name) else {
            preconditionFailure("a constant header name is valid")
        }
        return field
    }
}
