internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import NIOCore

/// Pushes the changes of the caller's wallet: first its state, then each newer one.
struct WalletEvents: Sendable {
    let ledger: Ledger
    let authentication: CallerAuthentication

    @Sendable func follow(_ request: Request, _ context: ServerContext) async throws -> Response {
        let access = try await authentication.access(of: request, needing: .payer)
        try QueryParameters(request).end()
        let key = Account.Key(.user(access.login.user), .usd)
        // Watching starts before reading, so that no change falls between the two.
        let watch = try ledger.feed.begin(by: access.login) {
            (feed, login) throws(ChangeFeedFull) in
            try feed.watch(key, by: login)
        }
        guard let wallet = try await ledger.history(of: key, .newest) else {
            throw Problem.unknownUser
        }
        var events = EventReply.beginning
        events.writeImmutableBuffer(try WalletStream.event(wallet))
        let clock = authentication.tokens.clock
        return EventReply.response(
            events,
            then: WalletStream(
                watch: watch,
                version: wallet.version,
                endsAt: access.endsAt,
                clock: clock
            )
        )
    }
}

/// A wallet's events after the state that the client knows, until its token ends or the program
/// stops.
struct WalletStream: WatchStream {
    let watch: Watch<AccountHistory>
    var isOver = false
    /// The number of the entry that was sent last.
    var version: Int64
    /// The end of the token: the client connects again with another one.
    let endsAt: Timestamp
    /// The clock that tokens are judged by.
    let clock: @Sendable () -> Timestamp

    static func event(_ wallet: AccountHistory) throws -> ByteBuffer {
        var state = BalanceReply(wallet.account)
        state.newest = try wallet.entries.first.map {
            try WalletTransaction($0.entry, $0.record, in: wallet.account)
        }
        return try EventReply.event(state, with: "event: wallet.changed")
    }

    var isEnded: Bool { clock() >= endsAt }

    mutating func piece(_ wallet: AccountHistory, noticedAt: Timestamp?) -> ReplyPiece? {
        guard wallet.version > version else { return nil }
        // The client connects again, and is told what is wrong.
        guard let event = try? Self.event(wallet) else { return .end }
        version = wallet.version
        return .bytes(event)
    }
}
