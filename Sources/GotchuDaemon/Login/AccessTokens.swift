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
        report(login, isAccepted: isAccepted)
    }

    /// Records an answer about a login like `TokenStore.record`. Publishes a change.
    @discardableResult
    private func report(_ login: TokenStore.Login, isAccepted: Bool) -> Bool {
        guard tokens.record(login.text, isAccepted: isAccepted) else { return false }
        status.publish()
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

    /// Exchanges a device's first credential for a token and the credential to store.
    ///
    /// - Returns: The credential to store.
    func enrol(_ credential: String) async throws(Problem) -> String {
        let asked = now()
        let answer = await client.refresh(Self.withNonce(credential))
        if case .unauthorized = answer {
            throw Problem(
                .notLoggedIn,
                detail: "The payment server does not accept this device code: it is wrong, was "
                    + "used already, or has expired. The login is as before.",
                fix: "Have the server's operator run, for a new code: "
                    + "gotchu-server devices renew ID"
            )
        }
        let reply = try answer.getOrThrow(tokens)
        grant(reply, since: asked)
        return Self.withNonce(reply.refreshToken)
    }

    /// Returns a credential with a random id of its next exchange. Both are stored. The server then
    /// recognizes a late replay of the exchange. An exchange by a copy of this machine has another
    /// id.
    private static func withNonce(_ credential: String) -> String {
        "\(credential)~\(String(UInt64.random(in: .min ... .max), radix: 36))"
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
        switch await client.refresh(login.text) {
        case .success(let reply):
            if report(login, isAccepted: true) {
                logger.notice("The payment server accepts this device's credential again")
            }
            do {
                try tokens.replace(login.text, with: Self.withNonce(reply.refreshToken))
            } catch {
                logger.error(
                    "The device's new credential cannot be written; the old one stays in use",
                    metadata: ["error": "\(error)"]
                )
            }
            return grant(reply, since: asked).userAccess
        case .unauthorized, .refused:
            state.withLock { $0.grant = nil }
            // Each call asks again: only the change is an error.
            let isChange = report(login, isAccepted: false)
            logger.log(
                level: isChange ? .error : .debug,
                "The payment server does not accept this device's credential any more"
            )
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
