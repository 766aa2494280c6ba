import AsyncHTTPClient
import FoundationEssentials
package import GotchuAPI
package import GotchuCore
import NIOCore
import NIOHTTP1
import OutboundHTTP

/// The client for the payment server's API.
///
/// Each call is sent once. Only after a 401, it is sent again with a new token. The caller decides
/// about other retries: only the caller knows if the journal allows one. Safe to use from any
/// number of tasks.
///
/// No call throws. A failure is in the `Answer`: `.refused` with the server's code, `.unauthorized`
/// if the token is not accepted, or `.unknown` if the outcome is unknown. Each call lists its
/// most important codes; openapi.yaml and contests.yaml list all. Every call can also be refused
/// with `VALIDATION_ERROR` or `FORBIDDEN`. Amounts are in minor units of the currency beside them.
package struct PaymentClient: Sendable {
    /// The timeout of a request, from connecting to the last byte of the reply. The wait for a
    /// token is not included.
    static let callLimit: Duration = .seconds(10)
    /// The maximum number of simultaneous connections to the server. Each event stream uses one. 16
    /// open sessions need 3 each (stream, EID change, payment), together 48. This leaves 16 for
    /// other calls. If no connection is free, a call waits. If none becomes free in time, it fails
    /// as if the server were unreachable.
    private static let connectionLimit = 64
    /// The maximum size of a reply, in bytes.
    static let replyLimit = 256 * 1024
    /// The maximum length of a text in a reply, in bytes. No id, name or memo is as long. A reply
    /// with a longer text is unreadable: the journal's records and the local API's snapshots, which
    /// contain such texts, have limits of their own.
    static let textLimit = 1024
    /// The same for a reply with a token or the address of a page. Neither is recorded.
    static let longTextLimit = 16 * 1024

    static let readyPath = "/readyz"

    package let server: ServerURL
    let http: any HTTPTransport
    private var access: any AccessSource
    let onAnswer: @Sendable (Outage?) -> Void

    /// - Parameters:
    ///   - http: The HTTP client with a `ServerRoute`'s configuration. The caller shuts it down.
    ///   - access: The source of each call's token. If it is `nil`, calls carry no authorization.
    ///   - onAnswer: Called with the outcome of each call except `ping`, `probe` and
    ///     `followSession`: the outage if the answer is `.unknown`, otherwise `nil`.
    package init(
        server: ServerURL,
        http: any HTTPTransport,
        access: (any AccessSource)? = nil,
        onAnswer: @escaping @Sendable (Outage?) -> Void = { _ in }
    ) {
        self.server = server
        self.http = http
        self.access = access ?? GivenToken(nil)
        self.onAnswer = onAnswer
    }

    /// Returns the same client with another source of tokens.
    package func using(_ access: any AccessSource) -> PaymentClient {
        var client = self
        client.access = access
        return client
    }

    /// The settings of the HTTP client. Redirects are not followed: the answer must come from the
    /// configured server. The read timeout is longer than the interval of the server's keep-alives.
    static var httpConfiguration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration.outbound(
            connect: .seconds(5),
            read: .seconds(40),
            isStreaming: true
        )
        configuration.connectionPool.idleTimeout = .seconds(30)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionLimit
        // A refused connection is returned as a result. The caller decides about retries.
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

    /// Asks the server if it is ready (`GET /readyz`). Needs no token. `onAnswer` is not called.
    ///
    /// - Returns: Refused by a server with the first version of the API: it lacks this path.
    package func ping() async -> Answer<Void> {
        let answer: Answer<ReadyReply> = read(await raw(.GET, Self.readyPath))
        return answer.requiring { $0.status == "ready" }.map { _ in }
    }

    /// Requests a token from a development server. Needs no token.
    ///
    /// - Returns: The token. Refused with `NOT_FOUND` by all other servers.
    package func devLogin(email: String) async -> Answer<DevLoginReply> {
        await post("/auth/dev-login", ["email": email], textLimit: Self.longTextLimit)
    }

    /// Exchanges a device's credential for a short-lived token.
    ///
    /// - Returns: The token with its lifetime in seconds, and the next credential. `.unauthorized`
    ///   if the credential is not accepted. After `.unknown`, retry with the same credential: the
    ///   server accepts it until the next credential is used.
    package func refresh(_ credential: String) async -> Answer<TokenReply> {
        await post(
            "/auth/token",
            ["refresh_token": credential],
            textLimit: Self.longTextLimit
        )
    }

    /// Asks the server if it accepts a token or a device's credential. Changes nothing.
    package func checkLogin() async -> Answer<Void> {
        let answer: Answer<LoginReply> = decode(await raw(.GET, "/auth/login"))
        return answer.map { _ in }
    }

    /// Reads the caller's own wallet.
    ///
    /// - Returns: The balance in minor units, and the newest entries, newest first.
    package func wallet() async -> Answer<WalletReply> {
        decode(await raw(.GET, "/wallet/me"))
    }

    /// Creates a session, as the payee.
    ///
    /// The call is not idempotent. After `.unknown`, there may be a session that nobody advertises.
    /// It expires.
    ///
    /// - Parameter request: The amount in minor units, the lifetime in seconds, and the options.
    /// - Returns: The session, its first EID, and its expiry by the server's clock. Refused with
    ///   `VALIDATION_ERROR`, for example if the payee has no wallet in the currency, or with
    ///   `PAYEE_NOT_ONBOARDED`; a desk also with `AMOUNT_CHANGED` or a contest's code.
    package func createSession(_ request: CreateSessionRequest) async -> Answer<CreateSessionReply>
    {
        let answer: Answer<CreateSessionReply> = await post("/sessions/create", request)
        return answer.map(Self.bounded)
    }

    /// Resolves an EID to its session. Changes nothing, but can notify the payee. The server
    /// requires no token, but counts the call by login if there is one.
    ///
    /// - Parameters:
    ///   - isBackground: True if nobody waits for the answer. The server counts the unknown EIDs of
    ///     such calls separately. They do not use up the user's own limit.
    ///   - proximity: The position of this device, which the server shows to the payee. A server
    ///     with the first version of the API refuses it with `VALIDATION_ERROR`.
    /// - Returns: The amount in minor units, the payee, and everything else that a payer should
    ///   see. Refused with `NOT_FOUND`, `SESSION_PAID`, `SESSION_CANCELLED` or `SESSION_EXPIRED`.
    package func resolve(
        _ eid: EID,
        isBackground: Bool = false,
        proximity: PayerProximity? = nil
    ) async -> Answer<ResolveReply> {
        // The lowest urgency (RFC 9218, section 4.1).
        let headers = isBackground ? [("Priority", "u=7")] : []
        let body = CanonicalJSON.bytes(of: ResolveRequest(eid: eid, proximity: proximity))
        let answer: Answer<ResolveReply> = decode(
            await raw(.POST, "/sessions/resolve", body: body, headers: headers)
        )
        return answer.map { reply in
            var reply = reply
            reply.payee.name = reply.payee.name.cut(to: Self.nameLimit)
            reply.memo = reply.memo?.cut(to: Self.nameLimit)
            return reply
        }
    }

    /// Locks a session for this payer. The first payer wins. Idempotent for the same payer.
    ///
    /// - Parameter cents: The amount of the share if several payers share the session.
    /// - Returns: Refused with `NOT_FOUND`, `OWN_SESSION`, `SESSION_BUSY` if another payer has the
    ///   lock, `SESSION_PAID`, `SESSION_CANCELLED`, `SESSION_EXPIRED` or `AMOUNT_CHANGED`; at a
    ///   desk also with `ALREADY_JOINED` or a contest's code.
    package func lock(_ sid: SessionID, expecting cents: Int64? = nil) async -> Answer<LockReply> {
        let request = JSONValue.members([
            "sid": .string(sid.rawValue), "expected_amount_cents": cents.map(JSONValue.integer),
        ])
        let answer: Answer<LockReply> = await post("/sessions/lock", request)
        return answer.requiring(\.ok)
    }

    /// Unlocks a session. Refused, and changes nothing, if this payer does not have the lock.
    ///
    /// - Returns: Refused with `FORBIDDEN` if another payer has the lock, `NOT_FOUND`,
    ///   `SESSION_NOT_LOCKED`, `SESSION_PAID`, `SESSION_CANCELLED` or `SESSION_EXPIRED`.
    package func unlock(_ sid: SessionID) async -> Answer<Void> {
        let answer: Answer<LockReply> = decode(
            await raw(.POST, "/sessions/\(sid)/unlock", body: [])
        )
        return answer.map { _ in }
    }

    /// Cancels a session, as its payee. Idempotent.
    ///
    /// - Returns: The session as it has ended. Refused with `NOT_FOUND`, `SESSION_BUSY` if a payer
    ///   has the lock, `SESSION_PAID` or `SESSION_EXPIRED`.
    package func cancel(_ sid: SessionID) async -> Answer<SessionReply> {
        decode(await raw(.POST, "/sessions/\(sid)/cancel", body: []))
    }

    /// Changes a session's EID. For some time, the old EID still resolves.
    ///
    /// - Parameter eid: The EID on the air. If a reply is lost, a retry with the same EID returns
    ///   that reply again.
    /// - Returns: The new EID. Refused with `NOT_FOUND`, `TOO_MANY_ROTATIONS`, `SESSION_PAID`,
    ///   `SESSION_CANCELLED` or `SESSION_EXPIRED`. After a refusal, the EID is unchanged.
    package func rotateEID(
        of sid: SessionID,
        replacing eid: EID
    ) async -> Answer<RotateEIDReply> {
        await post("/sessions/\(sid)/eids", ["replaces": eid])
    }

    /// Reads a session, as its payee or its payer.
    ///
    /// - Returns: Its state, with amounts in minor units. Refused with `NOT_FOUND` or `FORBIDDEN`.
    package func session(_ sid: SessionID) async -> Answer<SessionReply> {
        decode(await raw(.GET, "/sessions/\(sid)"))
    }

    /// Sends a payment.
    ///
    /// - Parameters:
    ///   - body: The exact bytes from the journal.
    ///   - key: The idempotency key from the journal, the same for all sends.
    /// - Returns: The payer's new balance in minor units. Refused with
    ///   `INSUFFICIENT_WALLET_BALANCE`, `AMOUNT_CHANGED`, `OWN_SESSION`, `TIP_NOT_ALLOWED`, a code
    ///   of the session's state, or at a desk a contest's code; such a refusal is final for this
    ///   key. `NOT_FOUND` is final only if the server has stored it. Refused with
    ///   `IDEMPOTENCY_KEY_REUSED` if `body` differs from that of the first call. After `.unknown`,
    ///   the payment may have been made: retry only with the same bytes and key.
    package func send(body: [UInt8], key: IdempotencyKey) async -> Answer<SendReply> {
        let answer: Answer<SendReply> = decode(await keyed("/wallet/send", body: body, key: key))
        return answer.requiring(\.ok)
    }

    /// Reads the outcome of a payment.
    ///
    /// - Parameter key: The key with which it was sent.
    /// - Returns: The outcome and the balance at that time, in minor units. Refused with
    ///   `NOT_FOUND` while the server has no decision under this key. A `send` in progress may
    ///   still lead to one.
    package func sendOutcome(of key: IdempotencyKey) async -> Answer<SendOutcomeReply> {
        decode(await raw(.GET, "/wallet/sends/\(key.rawValue)"))
    }

    /// Refunds a payment, in full or in part.
    ///
    /// - Parameters:
    ///   - body: The exact bytes from the journal.
    ///   - key: The idempotency key from the journal, the same for all sends.
    /// - Returns: The payee's new balance in minor units. `isReplay` is true if the refund was made
    ///   before. Refused with `INSUFFICIENT_WALLET_BALANCE`, `NOT_FOUND`, `SESSION_NOT_PAID`,
    ///   `SESSION_REFUNDED`, `REFUND_TOO_LARGE`, `NOT_REFUNDABLE` or `IDEMPOTENCY_KEY_REUSED`.
    ///   After `.unknown`, retry only with the same bytes and key.
    package func refund(
        _ sid: SessionID,
        body: [UInt8],
        key: IdempotencyKey
    ) async -> Answer<RefundReply> {
        let bytes = await keyed("/sessions/\(sid)/refund", body: body, key: key)
        guard case .success(let raw) = bytes else { return decode(bytes) }
        let answer: Answer<RefundReply> = decode(bytes)
        return answer.requiring(\.ok).map { reply in
            var reply = reply
            reply.isReplay = raw.isReplay
            return reply
        }
    }

    private func post<Reply: Decodable & Sendable>(
        _ path: String,
        _ body: some Encodable,
        textLimit limit: Int = textLimit
    ) async -> Answer<Reply> {
        decode(
            await raw(.POST, path, body: CanonicalJSON.bytes(of: body)),
            textLimit: limit
        )
    }

    /// Makes a `POST` call with an idempotency key.
    func keyed(_ path: String, body: [UInt8], key: IdempotencyKey) async -> Answer<RawReply> {
        await raw(.POST, path, body: body, headers: [(IdempotencyHeader.key, key.rawValue)])
    }

    /// Builds a request with the headers of every call.
    func request(
        _ method: HTTPMethod,
        _ path: String,
        headers: [(String, String)] = [],
        access: Access
    ) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: server.description + path)
        request.method = method
        request.headers = HTTPHeaders(headers)
        request.headers.add(name: "User-Agent", value: "gotchud")
        if case .bearer(let token) = access {
            request.headers.add(name: "Authorization", value: "Bearer \(token)")
        }
        return request
    }

    /// The paths of calls without authorization. These calls do not wait for a token.
    private static let publicPaths: Set = [
        readyPath, "/auth/dev-login", "/auth/token",
    ]

    func raw(
        _ method: HTTPMethod,
        _ path: String,
        body: [UInt8]? = nil,
        headers: [(String, String)] = [],
        limit: Int = replyLimit
    ) async -> Answer<RawReply> {
        let isPublic = Self.publicPaths.contains(path)
        return await withAccess(isPublic ? GivenToken(nil) : access) { access in
            var request = request(method, path, headers: headers, access: access)
            if let body {
                request.headers.add(name: "Content-Type", value: "application/json")
                request.body = .bytes(ByteBuffer(bytes: body))
            }
            return await execute(request, limit: limit)
        }
    }

    /// Makes a call with the current token. After a 401, repeats it once with a new token. The
    /// server has decided nothing, so the same bytes may be sent again.
    func withAccess<Reply: Sendable>(
        _ call: (Access) async -> Answer<Reply>
    ) async -> Answer<Reply> {
        await withAccess(access, call)
    }

    private func withAccess<Reply: Sendable>(
        _ source: any AccessSource,
        _ call: (Access) async -> Answer<Reply>
    ) async -> Answer<Reply> {
        let access = await source.access()
        if case .outage(let outage) = access { return .unknown(outage) }
        let answer = await call(access)
        guard case .unauthorized = answer, case .bearer(let token) = access else {
            return reported(answer, access, source)
        }
        switch await source.access(replacing: token) {
        case .none: return reported(answer, access, source)
        case .bearer(let new): return reported(await call(.bearer(new)), .bearer(new), source)
        case .outage(let outage): return .unknown(outage)
        }
    }

    private func reported<Reply: Sendable>(
        _ answer: Answer<Reply>,
        _ access: Access,
        _ source: any AccessSource
    ) -> Answer<Reply> {
        let token: String? = if case .bearer(let token) = access { token } else { nil }
        switch answer {
        case .success, .refused:
            if token != nil { source.report(isAccepted: true, token: token) }
        case .unauthorized: source.report(isAccepted: false, token: token)
        case .unknown: break
        }
        return answer
    }
}
