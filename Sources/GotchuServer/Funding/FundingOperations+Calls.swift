internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Ledger

/// Operations that call the provider or return its state, shared by the API routes and the web
/// pages.
extension FundingOperations {
    /// Returns true if deposits and withdrawals are offered to a user.
    func isOpen(to user: UserID) -> Bool {
        (try? source(for: user)) != nil
    }

    // MARK: Deposits

    /// Returns the reply for a new intent, with the client secret or link. Only the payer may see
    /// these.
    ///
    /// - Throws: A problem: 502 if the provider refused the payment, 503 if it has not replied.
    func intentReply(
        _ id: RecordID,
        of user: UserID,
        _ secret: String?
    ) async throws -> IntentReply {
        let deposit: Deposit = try await subject(id, of: user)
        var reply = IntentReply(deposit)
        if deposit.body.presentation == .clientSecret {
            // Clients require the member, also where there is no form to show with it: the mint
            // has paid, or the deposit is decided.
            reply.clientSecret = "\(stripe == nil ? "dev" : "closed")_\(id)_secret"
        }
        guard let stripe else { return reply }
        switch deposit.state {
        case .created: throw Problem.providerUnavailable.retry(after: 2)
        case .failed:
            throw Problem.providerRefused(deposit.body.error?.message, "Nothing was charged.")
        case .requiresPaymentMethod, .requiresConfirmation, .requiresAction:
            guard let secret else { throw Problem.providerUnavailable.retry(after: 2) }
            switch deposit.body.presentation {
            case .clientSecret:
                reply.clientSecret = secret
                reply.publishableKey = stripe.publishableKey
            case .hosted: reply.checkoutURL = secret
            }
        case .processing, .succeeded, .canceled, .held: break
        }
        return reply
    }

    /// Returns a deposit, refreshed from the provider if that is due. If the provider does not
    /// reply in time, returns the stored state.
    func refreshed(_ deposit: Deposit) async throws -> Deposit {
        guard deposit.needsRefresh(at: ledger.now), let stripe else { return deposit }
        await stripe.refresh([deposit.id])
        return try await subject(deposit.id, of: deposit.owner)
    }

    /// Returns a page of a user's deposits. Open deposits are refreshed if that is due.
    func refreshedDeposits(of user: UserID, _ page: FundingPage) async throws -> [Deposit] {
        let deposits: [Deposit] = try await newest(of: user, page)
        let now = ledger.now
        let open = deposits.filter { $0.state.isOpen && $0.needsRefresh(at: now) }
        guard let stripe, !open.isEmpty else { return deposits }
        await stripe.refresh(open.map(\.id))
        return try await newest(of: user, page)
    }

    /// Cancels a deposit that is not paid.
    ///
    /// - Throws: A refusal. A problem: 409 if the deposit is settled, or 503 if the provider has
    ///   not replied.
    func cancelDeposit(_ id: RecordID, of user: UserID) async throws -> Deposit {
        _ = try source(for: user)
        let stripe = try providerForCall(by: user)
        var deposit = try await ledger.submit(CancelDeposit(id, user: user)).accepted()
        if deposit.state != .canceled, let stripe {
            _ = await stripe.refreshNow(id)
            deposit = try await subject(id, of: user)
        }
        switch deposit.state {
        case .canceled: return deposit
        case .succeeded, .failed, .held, .processing: throw Refusal(.intentSettled).problem
        case .created, .requiresPaymentMethod, .requiresConfirmation, .requiresAction:
            throw Problem.providerUnavailable.retry(after: 2)
        }
    }

    // MARK: Payees

    /// Creates a link to the provider's onboarding pages. A logged-in payee whose account is active
    /// gets a link to the dashboard, where the bank account is changed. With the mint, the link
    /// leads back to this server.
    ///
    /// - Parameters:
    ///   - origin: This server's address for browsers.
    ///   - ticket: The payee's invitation; `nil` for a logged-in user.
    func setUpLink(
        for user: UserID,
        at origin: String,
        with ticket: PayeeTicket? = nil
    ) async throws -> ConnectLinkReply {
        guard try source(for: user) != .mint, let stripe = try providerForCall(by: user) else {
            return ConnectLinkReply(
                url: "\(origin)/connect/return",
                expiresAt: ledger.now.advanced(by: .seconds(300))
            )
        }
        guard try await payee(of: user).map({ $0.owner == user }) ?? true else {
            throw Problem(
                .forbidden,
                detail: "Your withdrawals are paid to another user's account.",
                fix: "Its owner sets it up."
            )
        }
        var payee = try await ledger.submit(PutPayee(user)).accepted()
        if payee.body.account == nil {
            _ = await stripe.refreshNow(payee.id)
            payee = try await self.payee(of: user) ?? payee
        }
        guard let account = payee.body.account else {
            guard let error = payee.body.error else {
                throw Problem.providerUnavailable.retry(after: 2)
            }
            throw Problem.providerRefused(error.message)
        }
        let link: Result<ConnectLinkReply, Problem> =
            // An invitation never gives access to an account that is already active.
            if payee.state == .active, ticket == nil {
                await stripe.dashboardLink(of: account)
            } else {
                await stripe.link(of: account, user: user, with: ticket)
            }
        if case .failure(let problem) = link,
            problem.code == ErrorCode.providerRefused.rawValue
        {
            // A refusal may mean that the account is closed: refresh its state.
            _ = await stripe.refreshNow(payee.id)
        }
        return try link.get()
    }

    /// Returns a payee's status, refreshed from the provider if that is due.
    func refreshedStatus(of user: UserID) async throws -> ConnectStatusReply {
        let payee = try await payee(of: user)
        if let stripe, let payee, payee.needsAccountRefresh(at: ledger.now) {
            await stripe.refresh([payee.id])
        }
        return try await status(of: user)
    }
}
