import GotchuAPI
import GotchuCore
import Logging
import PaymentClient
import Synchronization

/// The token for each call: the login's own, or a short-lived one fetched with a device's
/// credential, before the last one expires and when the server refuses it.
///
/// The successor of a credential is on disk before it is used. If it cannot be written, the old one
/// stays in use, which the server accepts until it has seen the successor.
final class AccessTokens: AccessSource {
    /// The used part of a token's lifetime; the rest allows for clocks and slow networks.
    private static let usedPart = 0.75
    /// The minimum age at which a refused token is replaced: a younger one is not the cause.
    private static let shortestUse: Duration = .seconds(1)

    private struct Grant {
        let identity: String
        let token: String
        let fetchedAt: MonotonicTime
        let renewAt: MonotonicTime
        let endsAt: MonotonicTime

        var held: Held { Held(identity: identity, access: .bearer(token)) }
    }

    private struct State {
        var grant: Grant?
        var fetch: Task<Held, Never>?
    }

    /// A token and its user, read at once: the login can change between two reads.
    private struct Held {
        /// `nil` if nobody is logged in.
        let identity: String?
        let access: Access

        /// Returns the token for a call that may only be made as this user.
        func access(of user: String) -> Access {
            identity == user ? access : .outage(Outage(.otherUser))
        }
    }

    private let tokens: TokenStore
    private let client: PaymentClient
    private let status: DaemonStatus
    private let now: @Sendable () -> MonotonicTime
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameters:
    ///   - client: A client that makes calls without a token.
    ///   - status: Published when the server begins to refuse the login, or accepts it again.
    init(
        tokens: TokenStore,
        client: PaymentClient,
        status: DaemonStatus,
        now: @escaping @Sendable () -> MonotonicTime = { .now },
        logger: Logger
    ) {
        self.tokens = tokens
        self.client = client
        self.status = status
        self.now = now
        self.logger = logger
    }

    func access() async -> Access { await held().access }

    func access(insteadOf refused: String) async -> Access {
        await held(insteadOf: refused).access
    }

    func report(isAccepted: Bool, token: String?) {
        // A login that was replaced is ignored. A device's login is judged by its exchange.
        guard let login = tokens.login, !login.isDevice, token == login.text else { return }
        report(login, isAccepted: isAccepted)
    }

    private func report(_ login: TokenStore.Login, isAccepted: Bool) {
        if tokens.record(login.text, isAccepted: isAccepted) { status.publish() }
    }

    /// Returns the same tokens for calls that may only be made as one user: while another user or
    /// nobody is logged in, such a call is not made.
    func only(of user: String) -> some AccessSource { OneUser(user: user, tokens: self) }

    private struct OneUser: AccessSource {
        let user: String
        let tokens: AccessTokens

        func access() async -> Access { await tokens.held().access(of: user) }

        func access(insteadOf refused: String) async -> Access {
            await tokens.held(insteadOf: refused).access(of: user)
        }

        func report(isAccepted: Bool, token: String?) {
            tokens.report(isAccepted: isAccepted, token: token)
        }
    }

    private func held() async -> Held {
        guard let login = tokens.login else { return Held(identity: nil, access: .none) }
        guard login.isDevice else {
            return Held(identity: login.identity, access: .bearer(login.text))
        }
        let now = now()
        let grant = state.withLock { $0.grant }.flatMap { grant in
            grant.identity == login.identity && now < grant.endsAt ? grant : nil
        }
        if let grant, now < grant.renewAt { return grant.held }
        let renewed = await fetch()
        // After a short outage the server still accepts a token that has not expired.
        if case .outage = renewed.access, let grant { return grant.held }
        return renewed
    }

    private func held(insteadOf refused: String) async -> Held {
        guard let login = tokens.login else { return Held(identity: nil, access: .none) }
        let nothing = Held(identity: login.identity, access: .none)
        guard login.isDevice else { return nothing }
        let now = now()
        if let grant = state.withLock({ $0.grant }), grant.identity == login.identity {
            if grant.token != refused { return grant.held }
            guard now - grant.fetchedAt >= Self.shortestUse else { return nothing }
        }
        return await fetch()
    }

    /// Exchanges the credential that a device was enrolled with for the one to store.
    ///
    /// - Returns: The credential to store.
    func enrol(_ credential: String) async throws(Problem) -> String {
        let asked = now()
        let reply = try await client.refresh(Self.withNonce(credential)).getOrThrow(tokens)
        grant(reply, since: asked)
        return Self.withNonce(reply.refreshToken)
    }

    /// Returns a credential with the id of its exchange, which is stored with it: the server then
    /// recognizes even a late replay, and tells it from an exchange by a copy of this machine.
    private static func withNonce(_ credential: String) -> String {
        "\(credential)~\(String(UInt64.random(in: .min ... .max), radix: 36))"
    }

    /// Waits for the fetch in progress, or starts one: two exchanges of one credential at once
    /// would give two successors of which only one is valid.
    private func fetch() async -> Held {
        let fetch = state.withLock { state in
            if let fetch = state.fetch { return fetch }
            // Not a child of the caller, which may be cancelled while the successor is in flight.
            // SAFETY: owned by the state until it ends, which the client's time limit bounds.
            let fetch = Task {
                let held = await self.renew()
                self.state.withLock { $0.fetch = nil }
                return held
            }
            state.fetch = fetch
            return fetch
        }
        return await fetch.value
    }

    private func renew() async -> Held {
        guard let login = tokens.login else { return Held(identity: nil, access: .none) }
        guard login.isDevice else {
            return Held(identity: login.identity, access: .bearer(login.text))
        }
        let asked = now()
        switch await client.refresh(login.text) {
        case .success(let reply):
            report(login, isAccepted: true)
            do {
                try tokens.replace(login.text, with: Self.withNonce(reply.refreshToken))
            } catch {
                logger.error(
                    "The device's new credential cannot be written; the old one stays in use",
                    metadata: ["error": "\(error)"]
                )
            }
            return grant(reply, since: asked).held
        case .unauthorized, .refused:
            logger.error("The payment server does not accept this device's credential any more")
            state.withLock { $0.grant = nil }
            report(login, isAccepted: false)
            return Held(identity: login.identity, access: .none)
        case .unknown(let outage):
            return Held(identity: login.identity, access: .outage(outage))
        }
    }

    @discardableResult
    private func grant(_ reply: TokenReply, since asked: MonotonicTime) -> Grant {
        let life = Double(max(1, min(reply.expiresIn, 24 * 60 * 60)))
        let grant = Grant(
            identity: TokenStore.identity(of: reply.refreshToken),
            token: reply.accessToken,
            fetchedAt: asked,
            renewAt: asked + .seconds(life * Self.usedPart),
            endsAt: asked + .seconds(life)
        )
        state.withLock { $0.grant = grant }
        return grant
    }
}
