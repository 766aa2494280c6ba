import GotchuAPI
import GotchuCore
import Logging
import PaymentClient
import Synchronization

/// The token for each call: the one that was given at login, or a short one that this fetches with
/// a device's credential, before the last one ends and when the server refuses it.
///
/// The successor of a credential is on the disk before it is used. If it cannot be kept, the old
/// one stays in use, which the server takes until it has seen the successor.
final class AccessTokens: AccessSource {
    /// Of a token's life this part is used; the rest is for clocks and slow networks.
    private static let usedPart = 0.75
    /// Two refusals in a row within this time are not the token's fault.
    private static let shortestUse: Duration = .seconds(1)

    private struct Grant {
        let identity: String
        let token: String
        let fetchedAt: MonotonicTime
        let renewAt: MonotonicTime
        let endsAt: MonotonicTime
    }

    private struct State {
        var grant: Grant?
        var fetch: Task<Access, Never>?
    }

    private let tokens: TokenStore
    private let client: PaymentClient
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter client: Makes calls without a token.
    init(tokens: TokenStore, client: PaymentClient, logger: Logger) {
        self.tokens = tokens
        self.client = client
        self.logger = logger
    }

    func access() async -> Access {
        guard let login = tokens.login else { return .none }
        guard login.isDevice else { return .bearer(login.text) }
        let now = MonotonicTime.now
        let grant = state.withLock { $0.grant }.flatMap { grant in
            grant.identity == login.identity && now < grant.endsAt ? grant : nil
        }
        if let grant, now < grant.renewAt { return .bearer(grant.token) }
        let renewed = await fetch()
        // A server that is away for a minute takes the token that is still good when it is back.
        if case .outage = renewed, let grant { return .bearer(grant.token) }
        return renewed
    }

    func access(insteadOf refused: String) async -> Access {
        guard let login = tokens.login, login.isDevice else { return .none }
        let now = MonotonicTime.now
        if let grant = state.withLock({ $0.grant }), grant.identity == login.identity {
            if grant.token != refused { return .bearer(grant.token) }
            guard now - grant.fetchedAt >= Self.shortestUse else { return .none }
        }
        return await fetch()
    }

    /// Exchanges the credential that a device was given for the one that is kept.
    ///
    /// - Returns: What to keep.
    func enrol(_ credential: String) async throws(Problem) -> String {
        let asked = MonotonicTime.now
        let reply = try await client.refresh(credential).getOrThrow()
        grant(reply, since: asked)
        return reply.refreshToken
    }

    /// The fetch that is under way, or a new one: the same credential twice at once would be two
    /// successors of which only one is good.
    private func fetch() async -> Access {
        let fetch = state.withLock { state in
            if let fetch = state.fetch { return fetch }
            // Not a child of the caller, who may go away while the successor is on its way.
            // SAFETY: owned by the state until it ends, which the client's time limit bounds.
            let fetch = Task {
                let access = await self.renew()
                self.state.withLock { $0.fetch = nil }
                return access
            }
            state.fetch = fetch
            return fetch
        }
        return await fetch.value
    }

    private func renew() async -> Access {
        guard let login = tokens.login, login.isDevice else { return .none }
        let asked = MonotonicTime.now
        switch await client.refresh(login.text) {
        case .success(let reply):
            do {
                try tokens.replace(login.text, with: reply.refreshToken)
            } catch {
                logger.error(
                    "The device's new credential cannot be kept; the old one stays in use",
                    metadata: ["error": "\(error)"]
                )
            }
            grant(reply, since: asked)
            return .bearer(reply.accessToken)
        case .unauthorized, .refused:
            logger.error("The payment server does not accept this device's credential any more")
            state.withLock { $0.grant = nil }
            return .none
        case .unknown(let outage):
            return .outage(outage)
        }
    }

    private func grant(_ reply: TokenReply, since asked: MonotonicTime) {
        let life = Double(max(1, min(reply.expiresIn, 24 * 60 * 60)))
        let grant = Grant(
            identity: TokenStore.identity(of: reply.refreshToken),
            token: reply.accessToken,
            fetchedAt: asked,
            renewAt: asked + .seconds(life * Self.usedPart),
            endsAt: asked + .seconds(life)
        )
        state.withLock { $0.grant = grant }
    }
}
