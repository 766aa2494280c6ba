internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import NIOCore

/// Streams the changes of the caller's wallet: first the current state, then newer states.
struct WalletEvents: Sendable {
    let ledger: Ledger
    let authentication: CallerAuthentication

    @Sendable func follow(_ request: Request, _ context: ServerContext) async throws -> Response {
        let access = try await authentication.access(of: request, needing: .payer)
        try QueryParameters(request).end()
        let key = Account.Key(.user(access.login.user), .usd)
        // The watch starts before the read. Thus no change between the two is missed.
        let watch = try ledger.feed.begin(by: access.login) {
            (feed, login) throws(ChangeFeedFull) in
            try feed.watch(key, by: login)
        }
        guard let wallet = try await ledger.history(of: key, .newest) else {
            throw Problem.unknownUser
        }
        var events = EventReply.beginning
        events.writeImmutableBuffer(try WalletStream.event(wallet))
        return EventReply.response(
            events,
            then: WalletStream(watch: watch, access: access, version: wallet.version)
        )
    }
}

/// The events of a wallet after the state that the client has.
struct WalletStream: WatchStream {
    let watch: Watch<AccountHistory>
    let access: TokenAccess
    var isOver = false
    /// The version of the last state that was sent.
    var version: Int64

    static func event(_ wallet: AccountHistory) throws -> ByteBuffer {
        var state = BalanceReply(wallet.account)
        state.newest = try wallet.entries.first.map {
            try WalletTransaction($0.entry, $0.record, in: wallet.account)
        }
        return try EventReply.event(state, with: "event: wallet.changed")
    }

    mutating func piece(_ wallet: AccountHistory, noticedAt: Timestamp?) -> ReplyPiece? {
        guard wallet.version > version else { return nil }
        // If the event cannot be made, the stream ends. The client reconnects and gets the problem
        // as a reply.
        guard let event = try? Self.event(wallet) else { return .end }
        version = wallet.version
        return .bytes(event)
    }
}
