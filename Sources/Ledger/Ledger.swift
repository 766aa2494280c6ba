package import GotchuCore
package import Logging
package import ServiceLifecycle

/// The ledger as the rest of the server sees it: commands go to the one writer, reads to the store.
package struct Ledger: Sendable {
    package let feed: SessionFeed
    package let metrics = LedgerMetrics()
    package let store: any LedgerStore
    private let writer: LedgerWriter
    private let reads: CertainReads
    private let sweep: ExpirySweep
    private let relay: SessionRelay?
    private let sealer: Sealer
    private let queueLimit: Int
    private let unknownSessions = UnknownSessions()

    /// - Parameters:
    ///   - queueLimit: How many commands may wait for the next commit.
    ///   - watchersPerLogin: How many sessions one login may follow at once.
    package init(
        store: any LedgerStore,
        logger: Logger,
        queueLimit: Int = LedgerWriter.queueLimit,
        watchersPerLogin: Int = SessionFeed.usualWatchersPerLogin
    ) {
        self.store = store
        feed = SessionFeed(watchersPerLogin: watchersPerLogin)
        self.queueLimit = queueLimit
        writer = LedgerWriter(
            store: store,
            feed: feed,
            logger: logger,
            metrics: metrics,
            queueLimit: queueLimit,
            clock: { store.now }
        )
        reads = CertainReads(store: store, writer: writer)
        sealer = Sealer(store: store, logger: logger)
        sweep = ExpirySweep(store: store, writer: writer, logger: logger)
        relay = store.changes.map { [feed, reads] in
            SessionRelay($0, reads: reads, feed: feed, logger: logger)
        }
    }

    /// What must run, in the order in which it must be started.
    package var services: [any Service] {
        let always: [any Service] = [writer, sealer, sweep]
        return relay.map { always + [$0] } ?? always
    }

    /// The time by which sessions run out.
    package var now: Timestamp { store.now }

    /// How many commands wait for the next commit.
    package var waitingCount: Int { writer.waitingCount }

    /// Whether so many commands wait that none should be added without need.
    package var isBusy: Bool { waitingCount > queueLimit / 2 }

    /// The user of a login, taken in with a wallet if he is new.
    package func openWallet(_ open: OpenWallet) async throws(LedgerError) -> User {
        switch try await writer.submit(.openWallet(open)) {
        case .user(let user): return user
        case .session, .rotation, .send, .refund, .done, .refused, .held:
            preconditionFailure("opening answers with a user")
        }
    }

    package func create(
        _ create: CreateSession
    ) async throws(LedgerError) -> Decided<Session> {
        decided(try await writer.submit(.createSession(create)))
    }

    package func lock(_ lock: LockSession) async throws(LedgerError) -> Decided<Session> {
        decided(try await writer.submit(.lock(lock)))
    }

    package func unlock(_ unlock: UnlockSession) async throws(LedgerError) -> Decided<Session> {
        decided(try await writer.submit(.unlock(unlock)))
    }

    package func cancel(_ cancel: CancelSession) async throws(LedgerError) -> Decided<Session> {
        decided(try await writer.submit(.cancel(cancel)))
    }

    package func rotate(_ rotate: RotateEID) async throws(LedgerError) -> Decided<Rotation> {
        switch try await writer.submit(.rotate(rotate)) {
        case .rotation(let rotation): return .accepted(rotation)
        case .refused(let refusal): return .refused(refusal)
        case .user, .session, .send, .refund, .done, .held:
            preconditionFailure("a rotation answers with EIDs")
        }
    }

    /// A refusal here is one that is not remembered; those that are come as an answer.
    package func send(_ send: Send) async throws(LedgerError) -> Decided<SendAnswer> {
        let send = limited(send)
        let answer = await result { () async throws(LedgerError) in
            try await writer.submit(.send(send))
        }
        return try sent(answer, send).get()
    }

    /// The same for a caller who is no task and cannot wait.
    ///
    /// - Parameter answer: Called once, by the writer or at once: it must not block.
    package func send(
        _ send: Send,
        answer: @escaping @Sendable (Result<Decided<SendAnswer>, LedgerError>) -> Void
    ) {
        let send = limited(send)
        writer.submit(.send(send)) { answer(sent($0, send)) }
    }

    private func limited(_ send: Send) -> Send {
        var send = send
        send.remembersUnknownSession = unknownSessions.take(for: send.key.user, at: now)
        return send
    }

    private func sent(
        _ answer: Result<Answer, LedgerError>,
        _ send: Send
    ) -> Result<Decided<SendAnswer>, LedgerError> {
        var refusal: Refusal?
        if case .success(.send(let answer)) = answer, !answer.isReplay,
            case .declined(let declined) = answer.send.outcome
        {
            refusal = declined
        }
        settle(send.remembersUnknownSession, refusal, of: send.key.user)
        return answer.map { answer in
            switch answer {
            case .send(let answer): .accepted(answer)
            case .refused(let refusal): .refused(refusal)
            case .user, .session, .rotation, .refund, .done, .held:
                preconditionFailure("a payment answers with its outcome")
            }
        }
    }

    /// A refusal here is one that is not remembered; those that are come as an answer.
    package func refund(_ refund: Refund) async throws(LedgerError) -> Decided<RefundAnswer> {
        var refund = refund
        refund.remembersUnknownSession = unknownSessions.take(for: refund.key.user, at: now)
        let limited = refund
        let answer = await result { () async throws(LedgerError) in
            try await writer.submit(.refund(limited))
        }
        var refusal: Refusal?
        if case .success(.refund(let answer)) = answer, !answer.isReplay,
            case .declined(let declined) = answer.refund.outcome
        {
            refusal = declined
        }
        settle(limited.remembersUnknownSession, refusal, of: limited.key.user)
        switch try answer.get() {
        case .refund(let answer): return .accepted(answer)
        case .refused(let refusal): return .refused(refusal)
        case .user, .session, .rotation, .send, .done, .held:
            preconditionFailure("a refund answers with its outcome")
        }
    }

    private func result(
        _ body: () async throws(LedgerError) -> Answer
    ) async -> Result<Answer, LedgerError> {
        do throws(LedgerError) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }

    /// Puts back what was taken of a user's budget, unless this refusal has used it.
    private func settle(_ isTaken: Bool, _ refusal: Refusal?, of user: UserID) {
        if isTaken, refusal?.reason != .unknownSession { unknownSessions.putBack(for: user) }
    }

    /// A session as it is now, for those who may see it.
    ///
    /// What time has done to it is written down first, so that everybody sees the same versions.
    package func session(
        _ id: SessionID,
        visibleTo user: UserID
    ) async throws(LedgerError) -> Decided<Session> {
        guard let stored = try await reads.session(id) else {
            return .refused(Refusal(.unknownSession))
        }
        guard stored.isVisible(to: user) else { return .refused(Refusal(.forbidden)) }
        let now = store.now.advanced(by: .zero - store.expiryMargin)
        guard stored.settled(at: now) != stored else { return .accepted(stored) }
        let written = decided(try await writer.submit(.expire(id)))
        // A payer whose lock is over has no business with it any more, and another may have it.
        guard case .accepted(let session) = written, !session.isVisible(to: user) else {
            return written
        }
        return .refused(Refusal(.forbidden))
    }

    /// What an EID stands for.
    package func published(_ eid: EID) async throws(LedgerError) -> PublishedSession? {
        try await reads.published(eid)
    }

    /// A user's wallet and its newest entries, newest first.
    package func statement(
        of user: UserID,
        entries: Int
    ) async throws(LedgerError) -> WalletStatement? {
        try await reads.statement(of: user, entries: entries)
    }

    /// A stretch of the history of a user's wallet in one currency; `nil` if he has no such wallet.
    package func history(
        of user: UserID,
        in currency: Currency,
        _ range: WalletHistory.Range
    ) async throws(LedgerError) -> WalletHistory? {
        try await reads.history(of: user, in: currency, range)
    }

    /// What was answered to a payment's key.
    package func send(_ key: SendKey) async throws(LedgerError) -> RememberedSend? {
        try await reads.send(key)
    }

    /// Commits something, to prove that it can be done.
    package func probe() async throws(LedgerError) {
        _ = try await writer.submit(.probe)
    }

    private func decided(_ answer: Answer) -> Decided<Session> {
        switch answer {
        case .session(let session): .accepted(session)
        case .refused(let refusal): .refused(refusal)
        case .user, .rotation, .send, .refund, .done, .held:
            preconditionFailure("the command answers with a session")
        }
    }
}

/// What a command came to: a value, or a definite "no".
package enum Decided<Value: Sendable>: Sendable {
    case accepted(Value)
    case refused(Refusal)
}
