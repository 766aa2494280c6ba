package import AsyncHTTPClient
import FoundationEssentials
package import GotchuAPI
package import GotchuCore
import NIOCore
import NIOHTTP1

/// The payment server's API, from the side of a daemon.
///
/// It sends each call once: whoever calls decides about retries, because only the caller knows
/// whether the journal allows one. Safe to use from any number of tasks.
package struct PaymentClient: Sendable {
    /// How long a call may take, from connecting to the last byte of the answer.
    package static let callLimit: Duration = .seconds(10)
    /// How large an answer may be, in bytes.
    static let replyLimit = 256 * 1024

    private static let healthPath = "/healthz"

    package let server: ServerURL
    let http: HTTPClient
    private let token: @Sendable () async -> String?
    private let onOutage: @Sendable () -> Void

    /// - Parameters:
    ///   - token: Gives the bearer token at the time of each call, or `nil` when nobody is logged
    ///     in.
    ///   - onOutage: Told when a call other than `ping` found no server.
    package init(
        server: ServerURL,
        http: HTTPClient,
        token: @escaping @Sendable () async -> String?,
        onOutage: @escaping @Sendable () -> Void = {}
    ) {
        self.server = server
        self.http = http
        self.token = token
        self.onOutage = onOutage
    }

    /// The settings of an HTTP client that behaves as this API needs: no redirects (an answer must
    /// come from the server that was configured) and a silence limit longer than the server's
    /// keep-alive.
    package static var httpConfiguration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(5), read: .seconds(40))
        )
        configuration.connectionPool.idleTimeout = .seconds(30)
        // A refused connection is an answer; when to try again is decided by whoever calls.
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

    /// Whether the server is there: `GET /healthz`.
    package func ping() async -> Answer<Void> {
        await raw(.GET, Self.healthPath).map { _ in }
    }

    /// Asks a development server for a token.
    package func devLogin(email: String) async -> Answer<DevLoginReply> {
        await call(.POST, "/auth/dev-login", DevLoginRequest(email: email))
    }

    package func wallet() async -> Answer<WalletReply> {
        decode(await raw(.GET, "/wallet/me"))
    }

    package func createSession(_ request: CreateSessionRequest) async -> Answer<CreateSessionReply>
    {
        await call(.POST, "/sessions/create", request)
    }

    package func resolve(_ eid: EID) async -> Answer<ResolveReply> {
        await call(.POST, "/sessions/resolve", ResolveRequest(eid: eid))
    }

    package func lock(_ sid: SessionID) async -> Answer<LockReply> {
        let answer: Answer<LockReply> = await call(.POST, "/sessions/lock", LockRequest(sid: sid))
        return answer.requiring(\.ok)
    }

    /// Gives a locked session back; harmless if it is not ours.
    package func unlock(_ sid: SessionID) async -> Answer<Void> {
        await raw(.POST, "/sessions/\(sid)/unlock", body: []).map { _ in }
    }

    package func cancel(_ sid: SessionID) async -> Answer<Void> {
        await raw(.POST, "/sessions/\(sid)/cancel", body: []).map { _ in }
    }

    /// Gives a session another EID; the old one resolves a while longer.
    ///
    /// - Parameter eid: The one that is on the air. Asking again with the same one, after an answer
    ///   was lost, gets the answer that was lost.
    package func rotateEID(
        of sid: SessionID,
        replacing eid: EID
    ) async -> Answer<RotateEIDReply> {
        await call(.POST, "/sessions/\(sid)/eids", RotateEIDRequest(replaces: eid))
    }

    package func session(_ sid: SessionID) async -> Answer<SessionReply> {
        decode(await raw(.GET, "/sessions/\(sid)"))
    }

    /// Pays.
    ///
    /// - Parameters:
    ///   - body: The exact bytes that the journal holds.
    ///   - key: The payment's one key, from the journal too.
    package func send(body: [UInt8], key: IdempotencyKey) async -> Answer<SendReply> {
        let bytes = await raw(
            .POST,
            "/wallet/send",
            body: body,
            headers: [("Idempotency-Key", key.rawValue)]
        )
        let answer: Answer<SendReply> = decode(bytes)
        return answer.requiring(\.ok)
    }

    /// Gives money back.
    ///
    /// - Parameters:
    ///   - body: The exact bytes that the journal holds.
    ///   - key: The refund's one key, from the journal too.
    package func refund(
        _ sid: SessionID,
        body: [UInt8],
        key: IdempotencyKey
    ) async -> Answer<RefundReply> {
        let bytes = await raw(
            .POST,
            "/sessions/\(sid)/refund",
            body: body,
            headers: [("Idempotency-Key", key.rawValue)]
        )
        let answer: Answer<RefundReply> = decode(bytes)
        return answer.requiring(\.ok)
    }

    private func call<Body: Encodable, Reply: Decodable & Sendable>(
        _ method: HTTPMethod,
        _ path: String,
        _ body: Body
    ) async -> Answer<Reply> {
        decode(await raw(method, path, body: Self.encode(body)))
    }

    /// The bytes that stand for a request's body; sorted, so that the same request is the same
    /// bytes.
    package static func encode(_ body: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(body) else {
            preconditionFailure("our own wire types can always be encoded")
        }
        return [UInt8](data)
    }

    private func decode<Reply: Decodable & Sendable>(_ answer: Answer<[UInt8]>) -> Answer<Reply> {
        switch answer {
        case .success(let bytes):
            guard let reply = try? JSONDecoder().decode(Reply.self, from: Data(bytes)) else {
                return .unknown(Outage(.unreadable, underlying: "a reply of another shape"))
            }
            return .success(reply)
        case .refused(let problem): return .refused(problem)
        case .unauthorized(let problem): return .unauthorized(problem)
        case .unknown(let outage): return .unknown(outage)
        }
    }

    /// Builds a request with everything that each of ours carries.
    func request(
        _ method: HTTPMethod,
        _ path: String,
        headers: [(String, String)] = []
    ) async -> HTTPClientRequest {
        var request = HTTPClientRequest(url: server.description + path)
        request.method = method
        request.headers = HTTPHeaders(headers)
        request.headers.add(name: "User-Agent", value: "gotchud")
        if let token = await token() {
            request.headers.add(name: "Authorization", value: "Bearer \(token)")
        }
        return request
    }

    private func raw(
        _ method: HTTPMethod,
        _ path: String,
        body: [UInt8]? = nil,
        headers: [(String, String)] = []
    ) async -> Answer<[UInt8]> {
        var request = await request(method, path, headers: headers)
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let prepared = request
        do {
            return try await withTimeout(Self.callLimit) {
                let response = try await http.execute(
                    prepared,
                    timeout: .nanoseconds(Self.callLimit.wholeMilliseconds * 1_000_000)
                )
                let bytes = try await response.body.collect(upTo: Self.replyLimit)
                return Self.classify(
                    status: Int(response.status.code),
                    body: [UInt8](buffer: bytes),
                    retryAfter: response.headers.first(name: "Retry-After")
                )
            }
        } catch {
            if path != Self.healthPath { onOutage() }
            return .unknown(Self.outage(of: error))
        }
    }
}
