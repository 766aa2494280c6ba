internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Ledger

/// Deposits and withdrawals: the operations that API routes and web pages share.
struct FundingOperations: Sendable {
    static let currency = Currency.usd
    /// The maximum number of tries if the account changes while a withdrawal is decided.
    private static let tries = 8

    let ledger: Ledger
    /// The provider; `nil` if there is none.
    let stripe: StripeIntegration?
    /// A Boolean that is true if a development server's mint stands in for a missing provider.
    private let hasMint: Bool
    let options: FundingOptions
    let users: UserAllowlist
    private let limits: Limits

    init(
        _ ledger: Ledger,
        _ stripe: StripeIntegration?,
        _ limits: Limits,
        _ options: ServerOptions
    ) {
        self.ledger = ledger
        self.limits = limits
        self.stripe = stripe
        hasMint = options.developmentOpening != nil
        self.options = options.funding
        users = options.fundingUsers
    }

    /// Returns the provider for a request that always calls it; `nil` if there is no provider.
    ///
    /// - Throws: A problem: 429 if the user has made too many such requests.
    func providerForCall(by user: UserID) throws -> StripeIntegration? {
        guard let stripe else { return nil }
        try limits.allowProviderCall(by: user)
        return stripe
    }

    /// Returns the source of a user's deposits.
    ///
    /// - Throws: A problem: 404 if there is no source, or if it is not offered to this user.
    func source(for user: UserID) throws(Problem) -> FundingSource {
        guard users.contains(user) else { throw .fundingNotOffered }
        guard stripe != nil || hasMint else { throw .fundingNotConfigured }
        return stripe.map { .provider(isLive: $0.isLive) } ?? .mint
    }

    // MARK: Deposits

    /// Opens a deposit and creates its payment at the provider.
    ///
    /// - Returns: The reply to the command, and the client secret or link. Only the payer may see
    ///   the secret or link.
    func open(
        _ amount: Money,
        reference: String?,
        presentation: Presentation,
        as request: KeyedRequest
    ) async throws -> (reply: CommandReply<RecordID>, secret: String?) {
        let source = try source(for: request.user)
        let stripe = try providerForCall(by: request.user)
        let open = OpenDeposit(
            user: request.user,
            amount: amount,
            reference: reference,
            presentation: presentation,
            source: source,
            limits: try await limits(of: request.user, source)
        )
        let reply = try await ledger.submit(open, as: request)
        guard case .success(let id) = reply.outcome, let stripe else { return (reply, nil) }
        if !reply.isReplay {
            stripe.metrics.countEntry(
                into: DepositBody.State.created.rawValue,
                of: DepositBody.kind
            )
        }
        return (reply, await stripe.open(id))
    }

    /// Returns the limits of a user's next deposit.
    private func limits(of user: UserID, _ source: FundingSource) async throws -> DepositLimits {
        let oldest = ledger.now.advanced(by: .seconds(-3_600))
        let page = FundingPage(limit: source == .mint ? 1 : DepositLimits.read)
        let deposits: [Deposit] = try await newest(of: user, page)
        return DepositLimits(
            defaultDepositMaximum: options.depositMaximum,
            defaultBalanceMaximum: options.balanceMaximum,
            recent: source == .mint ? 0 : deposits.count { $0.createdAt > oldest },
            settled: deposits.count(where: \.isSettledAndRefreshed)
        )
    }

    // MARK: Withdrawals

    func withdraw(
        _ amount: Money,
        to bankAccount: String?,
        as request: KeyedRequest
    ) async throws -> CommandReply<RecordID> {
        let source = try source(for: request.user)
        let known = Answer.Key(
            user: request.user,
            command: RequestWithdrawal.name,
            key: request.key
        )
        // A repeated request gets the stored answer. It must not settle debts again.
        if try await ledger.answer(known) == nil {
            try await terms.settle(request.user) { try await ledger.submit($0).accepted() }
        }
        let needsRelease = try await terms.needsRelease(request.user, source)
        for _ in 0..<Self.tries {
            let withdrawal = RequestWithdrawal(
                user: request.user,
                amount: amount,
                bankAccount: bankAccount,
                source: source,
                hold: try await terms.hold(of: request.user, source).hold,
                needsRelease: needsRelease
            )
            let reply = try await ledger.submit(withdrawal, as: request)
            if case .failure(let refusal) = reply.outcome, refusal.reason == .accountChanged {
                continue
            }
            if case .success = reply.outcome, !reply.isReplay {
                stripe?.metrics.countEntry(
                    into: WithdrawalBody.State.pending.rawValue,
                    of: WithdrawalBody.kind
                )
            }
            return reply
        }
        throw Refusal(.accountChanged).thrown
    }

    /// Cancels a withdrawal for which no call was made yet.
    func cancelWithdrawal(
        _ id: RecordID,
        of user: UserID
    ) async throws -> Result<Withdrawal, Refusal> {
        let before: Withdrawal = try await subject(id, of: user)
        let outcome = try await ledger.submit(CancelWithdrawal(id, user: user))
        if case .success(let after) = outcome {
            stripe?.metrics.countState(of: after.record, previous: before.state.rawValue)
        }
        return outcome
    }

    /// Returns the part of a user's wallet that can be withdrawn.
    func withdrawable(of user: UserID) async throws -> Withdrawable {
        try await terms.withdrawable(of: user, try source(for: user))
    }

    private var terms: WithdrawalTerms {
        WithdrawalTerms(reads: ledger, payouts: options.payouts)
    }

    // MARK: Payees

    /// Returns the payee to whose account a user's withdrawals are paid; `nil` without one.
    func payee(of user: UserID) async throws -> Payee? {
        try await terms.paidPayee(of: user)
    }

    func status(of user: UserID) async throws -> ConnectStatusReply {
        if try source(for: user) == .mint { return .ofMint }
        return try await payee(of: user).map { ConnectStatusReply($0) } ?? .notSetUp
    }

    /// Checks that a user's payee account is active, if the operator requires onboarding.
    ///
    /// - Throws: A problem: the refusal `payeeNotOnboarded`.
    func requireOnboarded(_ user: UserID) async throws {
        guard options.requiresOnboarding, stripe != nil else { return }
        guard try await payee(of: user)?.state == .active else {
            throw Refusal(.payeeNotOnboarded).problem
        }
    }

    // MARK: Records

    /// Returns a deposit or a withdrawal of a user.
    ///
    /// - Throws: A problem: 404 if there is no such record, if it is another user's, or if funding
    ///   is not offered to the user.
    func subject<Body: FundingBody>(
        _ id: RecordID,
        of user: UserID
    ) async throws -> FundingRecord<Body> {
        _ = try source(for: user)
        guard let record = try await ledger.record(id), record.kind == Body.kind,
            record.owner == user
        else { throw Refusal(.unknownRecord).problem }
        return try FundingRecord(record)
    }

    /// Returns a page of a user's deposits or withdrawals, newest first.
    func newest<Body: FundingBody>(
        of user: UserID,
        _ page: FundingPage
    ) async throws -> [FundingRecord<Body>] {
        try await ledger.records(
            of: user,
            kind: Body.kind,
            before: page.before,
            limit: page.limit
        ).map { try FundingRecord($0) }
    }
}

extension Problem {
    static let fundingNotConfigured = Problem(
        .fundingNotConfigured,
        detail: "This server cannot fill or empty wallets.",
        fix: "Its operator sets GOTCHU_SERVER_STRIPE_KEY_FILE, or starts it with --dev."
    )

    static let fundingNotOffered = Problem(
        .fundingNotConfigured,
        detail: "This server does not fill or empty this user's wallet.",
        fix: "Its operator lists the user's id in GOTCHU_SERVER_FUNDING_USERS_FILE."
    )

    /// Returns the problem for a call that the payment provider refused.
    ///
    /// - Parameters:
    ///   - reason: The provider's own words; may be empty.
    ///   - consequence: A sentence that follows.
    static func providerRefused(_ reason: String?, _ consequence: String? = nil) -> Problem {
        var sentence = "The payment provider refused this"
        if let reason, !reason.isEmpty { sentence += ": \(reason)" }
        if !sentence.hasSuffix(".") { sentence += "." }
        let detail = [sentence, consequence].compactMap(\.self).joined(separator: " ")
        return Problem(.providerRefused, detail: detail)
    }

    static let providerUnavailable = Problem(
        .providerUnavailable,
        detail:
            "The payment provider does not answer. Nothing is lost: ask again with the same key.",
        retryable: true
    )
}

extension ConnectStatusReply {
    static let ofMint = ConnectStatusReply(
        status: .active,
        chargesEnabled: false,
        payoutsEnabled: true,
        detailsSubmitted: true
    )

    static let notSetUp = ConnectStatusReply(
        status: .notSetUp,
        chargesEnabled: false,
        payoutsEnabled: false,
        detailsSubmitted: false
    )

    init(_ payee: Payee) {
        let status: ConnectStatus =
            switch payee.state {
            case .notSetUp: .notSetUp
            case .pendingVerification: .pendingVerification
            case .active: .active
            case .restricted: .restricted
            }
        self.init(
            status: status,
            chargesEnabled: payee.body.chargesEnabled,
            payoutsEnabled: payee.body.payoutsEnabled,
            detailsSubmitted: payee.body.detailsSubmitted,
            currentlyDue: payee.body.currentlyDue,
            disabledReason: payee.body.disabledReason,
            currentDeadline: payee.body.currentDeadline
        )
    }
}

extension IntentReply {
    init(_ deposit: Deposit) {
        self.init(
            paymentIntentID: deposit.id.rawValue,
            status: IntentStatus(deposit.state),
            amountCents: WireInteger(deposit.amount.minorUnits),
            currency: deposit.amount.currency,
            reference: deposit.body.reference,
            createdAt: deposit.createdAt,
            expiresAt: deposit.body.expiresAt,
            creditedAt: deposit.body.creditedAt,
            lastError: deposit.body.error.map { IntentError(code: $0.code, message: $0.message) }
        )
    }
}

extension IntentStatus {
    fileprivate init(_ state: DepositBody.State) {
        self =
            switch state {
            case .created: .created
            case .requiresPaymentMethod: .requiresPaymentMethod
            case .requiresConfirmation: .requiresConfirmation
            case .requiresAction: .requiresAction
            case .processing, .held: .processing
            case .succeeded: .succeeded
            case .failed: .failed
            case .canceled: .canceled
            }
    }
}

extension WithdrawalReply {
    init(_ withdrawal: Withdrawal) {
        self.init(
            withdrawalID: withdrawal.id.rawValue,
            amountCents: WireInteger(withdrawal.amount.minorUnits),
            currency: withdrawal.amount.currency,
            status: WithdrawalStatus(withdrawal.state),
            createdAt: withdrawal.createdAt,
            reason: withdrawal.body.needsRelease
                ? "waiting_for_release" : withdrawal.body.reason?.code,
            arrivalDate: withdrawal.body.arrivesAt
        )
    }
}

extension WithdrawalStatus {
    init(_ state: WithdrawalBody.State) {
        self =
            switch state {
            case .pending: .pending
            case .sent, .inTransit, .returning, .held: .processing
            case .paid: .paid
            case .failed: .failed
            case .cancelled: .cancelled
            }
    }
}
