import GotchuAPI
import GotchuCore
import Logging
import PaymentClient
import Synchronization

/// The token for each call: the login's own token, or a short-lived token that is fetched with a
/// device's credential.
///
/// A new short-lived token is fetched before the last one expires, and if the server refuses it.
///
/// The successor of a credential is written to disk before it is used. If it cannot be written, the
/// old credential stays in use. The server accepts it until the successor is used.
final class AccessTokens: AccessSource {
    /// The fraction of a token's lifetime after which a new one is fetched. The rest allows for
    /// clock differences and slow networks.
    private static let renewalFraction = 0.75
    /// The minimum age at which a refused token is replaced. If a newer token is refused, another
    /// token would not help.
    private static let minimumTokenAge: Duration = .seconds(1)

    private struct Grant {
        let identity: String
        let token: String
        let fetchedAt: MonotonicTime
        let renewAt: MonotonicTime
        let endsAt: MonotonicTime

        var userAccess: UserAccess { UserAccess(identity: identity, access: .bearer(token)) }
    }

    private struct State {
        var grant: Grant?
        var fetch: Task<UserAccess, Never>?
    }

    /// A token and its user. Both are read at once, because the login can change between two reads.
    private struct UserAccess {
        /// `nil` if nobody is logged in.
        let identity: String?
        let access: Access

        /// Returns the access for a call of this user, or an outage if another user or nobody is
        /// logged in.
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
    ///   - status: The status to publish when the server begins to refuse the login or accepts it
    ///     again.
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

    func access() async -> Access { await currentAccess().access }

    func access(replacing refused: String) async -> Access {
        await currentAccess(replacing: refused).access
    }

    func report(isAccepted: Bool, token: String?) {
        // The report on a login that was replaced is ignored. A device's login is judged by its
        // exchange.
        guard let login = tokens.login, !login.isDevice, token == login.text else { return }
        record(login, isAccepted ? nil : .notAccepted)
    }

    /// Records an answer about a login like `TokenStore.record`. Publishes and logs a change: each
    /// call asks again.
    private func record(_ login: TokenStore.Login, _ refusal: TokenStore.Refusal?) {
        guard tokens.record(login.text, refusal) else { return }
        status.publish()
        guard login.isDevice else { return }
        if refusal == nil {
            logger.notice("The payment server accepts this device's credential again")
        } else {
            logger.error("The payment server does not accept this device's credential any more")
        }
    }

    /// Asks the server if it accepts the login, and records the answer. A credential is not
    /// exchanged, except a code, which is valid for a day only.
    ///
    /// - Returns: False if there was no answer.
    @discardableResult
    func checkLogin() async -> Bool {
        guard let login = tokens.login else { return false }
        guard !login.isCode else {
            _ = await fetch()
            return tokens.login?.isCode != true || tokens.isRefused
        }
        switch await client.using(GivenToken(login.text)).checkLogin() {
        case .success: record(login, nil)
        case .unauthorized(let problem): record(login, TokenStore.Refusal(problem))
        case .refused, .unknown: return false
        }
        return true
    }

    /// Returns a source of these tokens for the calls of one user. While another user or nobody is
    /// logged in, such a call is not made.
    func restricted(to user: String) -> some AccessSource {
        SingleUserAccess(user: user, tokens: self)
    }

    private struct SingleUserAccess: AccessSource {
        let user: String
        let tokens: AccessTokens

        func access() async -> Access { await tokens.currentAccess().access(of: user) }

        func access(replacing refused: String) async -> Access {
            await tokens.currentAccess(replacing: refused).access(of: user)
        }

        func report(isAccepted: Bool, token: String?) {
            tokens.report(isAccepted: isAccepted, token: token)
        }
    }

    private func currentAccess() async -> UserAccess {
        guard let login = tokens.login else { return UserAccess(identity: nil, access: .none) }
        guard login.isDevice else {
            return UserAccess(identity: login.identity, access: .bearer(login.text))
        }
        let now = now()
        let grant = state.withLock { $0.grant }.flatMap { grant in
            grant.identity == login.identity && now < grant.endsAt ? grant : nil
        }
        if let grant, now < grant.renewAt { return grant.userAccess }
        let renewed = await fetch()
        // The server may be out of reach for a short time only. It still accepts a token that has
        // not expired.
        if case .outage = renewed.access, let grant { return grant.userAccess }
        return renewed
    }

    private func currentAccess(replacing refused: String) async -> UserAccess {
        guard let login = tokens.login else { return UserAccess(identity: nil, access: .none) }
        let nothing = UserAccess(identity: login.identity, access: .none)
        guard login.isDevice else { return nothing }
        let now = now()
        if let grant = state.withLock({ $0.grant }), grant.identity == login.identity {
            if grant.token != refused { return grant.userAccess }
            guard now - grant.fetchedAt >= Self.minimumTokenAge else { return nothing }
        }
        return await fetch()
    }

    /// Exchanges a device's code for a token and the credential to store. If a reply was lost, the
    /// same machine can call it again with the same code.
    ///
    /// - Returns: The credential to store.
    func enrol(_ code: String) async throws(Problem) -> String {
        let asked = now()
        let shown: String
        do throws(TokenStore.Failure) {
            // Otherwise the code would be used up for a credential that cannot be stored.
            try tokens.requireWritable()
            shown = try tokens.enrolment(of: code)
        } catch {
            throw Problem(error, tokens.origin)
        }
        let answer = await client.refresh(shown)
        if case .unauthorized(let problem) = answer {
            let isUsed = problem.errorCode == .deviceCodeUsed
            throw Problem(
                isUsed ? .deviceCodeUsed : .notLoggedIn,
                detail: isUsed
                    ? "This device code was used already: a code is good for one machine, once. "
                        + "The login is as before."
                    : "The payment server does not accept this device code: it is wrong or has "
                        + "expired, or its device was revoked. The login is as before.",
                // A code that the server does not know may be anything, even a secret.
                fix: HealthItem.newCode(for: isUsed ? TokenStore.Login(text: code).device : nil)
            )
        }
        let reply = try answer.getOrThrow(tokens)
        grant(reply, since: asked)
        return TokenStore.withNonce(reply.refreshToken)
    }

    /// Waits for the fetch in progress, or starts one. Two simultaneous exchanges of one credential
    /// would return two successors, and only one would be valid.
    private func fetch() async -> UserAccess {
        let fetch = state.withLock { state in
            if let fetch = state.fetch { return fetch }
            // Not a child of the caller: a cancelled caller must not cancel the exchange.
            // SAFETY: owned by the state until it ends, which the client's time limit bounds.
            let fetch = Task {
                let userAccess = await self.renew()
                self.state.withLock { $0.fetch = nil }
                return userAccess
            }
            state.fetch = fetch
            return fetch
        }
        return await fetch.value
    }

    private func renew() async -> UserAccess {
        guard let login = tokens.login else { return UserAccess(identity: nil, access: .none) }
        guard login.isDevice else {
            return UserAccess(identity: login.identity, access: .bearer(login.text))
        }
        let asked = now()
        let shown: String
        do throws(TokenStore.Failure) {
            shown = login.isCode ? try tokens.enrolment(of: login.text) : login.text
        } catch {
            logger.error(
                "The exchange of the device's code cannot be written down, so it is not begun",
                metadata: ["error": "\(error)"]
            )
            let detail = "gotchud cannot write down the exchange of this device's code."
            let outage = Outage(.busy, serverDetail: detail)
            return UserAccess(identity: login.identity, access: .outage(outage))
        }
        switch await client.refresh(shown) {
        case .success(let reply):
            record(login, nil)
            do {
                try tokens.replace(login.text, with: TokenStore.withNonce(reply.refreshToken))
            } catch {
                logger.error(
                    "The device's new credential cannot be written; the old one stays in use",
                    metadata: ["error": "\(error)"]
                )
            }
            return grant(reply, since: asked).userAccess
        case .unauthorized(let problem), .refused(let problem):
            state.withLock { $0.grant = nil }
            record(login, TokenStore.Refusal(problem))
            return UserAccess(identity: login.identity, access: .none)
        case .unknown(let outage):
            return UserAccess(identity: login.identity, access: .outage(outage))
        }
    }

    @discardableResult
    private func grant(_ reply: TokenReply, since asked: MonotonicTime) -> Grant {
        let life = Double(max(1, min(reply.expiresIn, 24 * 60 * 60)))
        let grant = Grant(
            identity: TokenStore.identity(of: reply.refreshToken),
            token: reply.accessToken,
            fetchedAt: asked,
            renewAt: asked + .seconds(life * Self.renewalFraction),
            endsAt: asked + .seconds(life)
        )
        state.withLock { $0.grant = grant }
        return grant
    }
}
