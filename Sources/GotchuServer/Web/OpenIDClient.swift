internal import AsyncHTTPClient
internal import FoundationEssentials
internal import GotchuAPI
internal import GotchuCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import OutboundHTTP
internal import ServiceLifecycle
internal import Synchronization

/// The settings of this server as a client of the OpenID issuer.
struct OpenIDClientSettings: Sendable {
    let issuer: String
    let id: String
    /// The secret that authenticates this client to the issuer; `nil` for a public client.
    let secret: String?
}

/// Logs people in with the issuer's pages, by the code flow with PKCE (OpenID Connect Core, 3.1;
/// RFC 9700). Responses are untrusted. They are limited in size and time, and parsed strictly.
final class OpenIDClient: Service {
    private static let limit: TimeAmount = .seconds(5)
    private static let sizeLimit = 64 * 1024
    /// The time for which a discovery document is cached.
    private static let cacheLifetime: Duration = .seconds(60 * 60)
    /// The minimum time between a failed fetch and the next one, for any number of logins.
    private static let retryDelay: Duration = .seconds(5)

    private struct State {
        var discovery: OpenIDDiscovery?
        var fetchedAt: MonotonicTime?
        var failedAt: MonotonicTime?
    }

    private let settings: OpenIDClientSettings
    private let issuer: OpenIDIssuer
    /// The address to which the provider redirects people after the login.
    private let callback: String
    private let http: HTTPClient
    private let logger: Logger
    private let state = Mutex(State())

    init(_ settings: OpenIDClientSettings, keys: KeyRing, site: PublicURL, logger: Logger) {
        self.settings = settings
        issuer = OpenIDIssuer(name: settings.issuer, audience: settings.id, keys: keys)
        callback = site.origin + WebPath.callback
        http = HTTPClient(configuration: .outbound(connect: Self.limit, read: Self.limit))
        self.logger = logger
    }

    func run() async throws {
        try? await gracefulShutdown()
        try? await http.shutdown()
    }

    /// Returns true if `name` is the issuer's id. A response may contain the id (RFC 9207).
    func isIssuer(_ name: String) -> Bool { name == settings.issuer }

    /// Returns the scopes to request. The session gets the scopes that the provider grants.
    private static func scope(of attempt: LoginAttempt) -> String {
        "openid profile \(WebPath.scopes(for: attempt.target).text)"
    }

    /// Returns the address of the provider's login page.
    func authorization(for attempt: LoginAttempt) async throws -> String {
        let endpoint = try await discovery().authorizationEndpoint
        var fields = [
            ("response_type", "code"), ("client_id", settings.id), ("redirect_uri", callback),
            ("scope", Self.scope(of: attempt)), ("state", attempt.state), ("nonce", attempt.nonce),
            ("code_challenge", attempt.challenge), ("code_challenge_method", "S256"),
        ]
        // With max_age the ID token must contain the time of the authentication.
        if attempt.isFresh { fields += [("prompt", "login"), ("max_age", "0")] }
        return endpoint + (endpoint.contains("?") ? "&" : "?") + Self.form(fields)
    }

    /// Exchanges the provider's code for the person's claims and the granted scopes.
    ///
    /// - Throws: A problem: 401 if the ID token is invalid, belongs to another login, or is of an
    ///   older authentication than required; 503 if the provider does not answer.
    func claims(
        for code: String,
        of attempt: LoginAttempt,
        at time: Timestamp
    ) async throws -> (claims: TokenClaims, scopes: String) {
        let discovery = try await discovery()
        let reply = try await exchange(code, attempt, discovery)
        guard let token = SignedToken(reply.id_token), await issuer.accepts(token, at: time) else {
            throw Self.refused
        }
        let claims = token.claims
        let earliest = attempt.startedAt.advanced(by: .zero - OpenIDIssuer.leeway)
        guard claims.nonce == attempt.nonce, let issuedAt = claims.issuedAt, issuedAt >= earliest,
            claims.authorizedParty.map({ $0 == settings.id }) ?? (claims.audiences.count == 1)
        else { throw Self.refused }
        if attempt.isFresh, claims.authenticatedAt.map({ $0 < earliest }) ?? true {
            throw Problem(
                .unauthorized,
                detail: "The login's provider did not ask who you are again.",
                fix: "Log out there, then log in again."
            )
        }
        return (claims, reply.scope ?? Self.scope(of: attempt))
    }

    /// The problem for every login that belongs to another browser or is invalid. It is always the
    /// same, because details would help a forger.
    static var refused: Problem {
        Problem(
            .unauthorized,
            detail: "This login is not this browser's, or is over. Nothing was done.",
            fix: "Log in again."
        )
    }

    private static var providerUnavailable: ProblemWithHeaders {
        Problem(.tryAgain, detail: "The login's provider does not answer just now.")
            .retry(after: 5)
    }

    // MARK: The provider

    private func discovery() async throws -> OpenIDDiscovery {
        let now = MonotonicTime.now
        let known = state.withLock { state in
            let isNew = state.fetchedAt.map { now - $0 < Self.cacheLifetime } ?? false
            let isPausing = state.failedAt.map { now - $0 < Self.retryDelay } ?? false
            return (discovery: isNew || isPausing ? state.discovery : nil, isPausing: isPausing)
        }
        if let discovery = known.discovery { return discovery }
        guard !known.isPausing else { throw Self.providerUnavailable }
        do {
            let base = settings.issuer.hasSuffix("/") ? settings.issuer : settings.issuer + "/"
            var request = HTTPClientRequest(url: base + ".well-known/openid-configuration")
            request.headers.add(name: "Accept", value: "application/json")
            let bytes = try await body(of: request, upTo: OpenIDDiscovery.sizeLimit)
            let discovery = try OpenIDDiscovery(bytes, of: settings.issuer)
            state.withLock { $0 = State(discovery: discovery, fetchedAt: now) }
            return discovery
        } catch {
            logger.warning(
                "The OpenID provider's description cannot be used: nobody can log in to the pages.",
                metadata: ["error": "\(error)"]
            )
            let old = state.withLock { state in
                state.failedAt = now
                return state.discovery
            }
            guard let old else { throw Self.providerUnavailable }
            return old
        }
    }

    private struct TokenReply: Decodable {
        let id_token: String
        let scope: String?
    }

    /// Exchanges the code. It is sent only once, because the provider refuses a second use.
    private func exchange(
        _ code: String,
        _ attempt: LoginAttempt,
        _ discovery: OpenIDDiscovery
    ) async throws -> TokenReply {
        var fields = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", callback),
            ("code_verifier", attempt.verifier),
        ]
        var request = HTTPClientRequest(url: discovery.tokenEndpoint)
        request.method = .POST
        if let secret = settings.secret {
            if discovery.authenticationMethods.contains("client_secret_basic") {
                let pair = [settings.id, secret].map(Self.escaped).joined(separator: ":")
                let basic = Data(pair.utf8).base64EncodedString()
                request.headers.add(name: "Authorization", value: "Basic \(basic)")
            } else {
                fields += [("client_id", settings.id), ("client_secret", secret)]
            }
        } else {
            fields.append(("client_id", settings.id))
        }
        request.headers.add(name: "Accept", value: "application/json")
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        request.body = .bytes(ByteBuffer(string: Self.form(fields)))
        let bytes: [UInt8]
        do {
            bytes = try await body(of: request, upTo: Self.sizeLimit)
        } catch let error as Refusing {
            logger.info(
                "The OpenID provider refused a login's code.",
                metadata: ["status": "\(error.status)"]
            )
            throw Self.refused
        } catch {
            // The error's text is not logged, because it may contain the client's secret.
            logger.warning("The OpenID provider does not answer.")
            throw Self.providerUnavailable
        }
        guard let reply = try? JSONReader.decode(TokenReply.self, bytes) else {
            throw Self.refused
        }
        return reply
    }

    /// An HTTP status from 400 to 499: the provider has definitely refused.
    private struct Refusing: Error {
        let status: UInt
    }

    private func body(of request: HTTPClientRequest, upTo limit: Int) async throws -> [UInt8] {
        let response = try await http.execute(request, timeout: Self.limit)
        guard response.status == .ok else {
            let code = response.status.code
            guard (400..<500).contains(code) else {
                throw OpenIDDiscovery.Unusable(description: "HTTP \(code) came instead.")
            }
            throw Refusing(status: code)
        }
        return [UInt8](buffer: try await response.body.collect(upTo: limit))
    }

    private static func form(_ fields: [(String, String)]) -> String {
        fields.map { "\($0.0)=\(escaped($0.1))" }.joined(separator: "&")
    }

    /// Escapes every character that a form value must not contain, including the slash.
    private static func escaped(_ text: String) -> String {
        WebPath.escaped(text).replacing("/", with: "%2F")
    }
}
