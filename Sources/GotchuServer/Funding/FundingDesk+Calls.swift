internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Ledger

/// The calls that routes and pages make alike: they look at records, end deposits, and send payees
/// to the provider's pages.
extension FundingDesk {
    /// Returns true if a user sees that wallets are filled and emptied.
    func isOpen(to user: UserID) -> Bool {
        (try? source(for: user)) != nil
    }

    // MARK: Deposits

    /// The intent as it is now, with what only its payer may see.
    func made(
        _ id: RecordID,
        of user: UserID,
        _ secret: String?
    ) async throws -> IntentReply {
        let deposit: Deposit = try await subject(id, of: user)
        var reply = IntentReply(deposit)
        guard let work = work else { return reply }
        switch deposit.state {
        case .created: throw Problem.providerUnavailable.retry(after: 2)
        case .failed:
            throw Problem(
                .providerRefused,
                detail: "The payment provider refused this: "
                    + "\(deposit.body.error?.message ?? "it gives no reason"). Nothing was charged."
            )
        case .requiresPaymentMethod, .requiresConfirmation, .requiresAction:
            guard let secret else { throw Problem.providerUnavailable.retry(after: 2) }
            switch deposit.body.presentation {
            case .clientSecret:
                reply.clientSecret = secret
                reply.publishableKey = work.publishableKey
            case .hosted: reply.checkoutURL = secret
            }
        case .processing, .succeeded, .canceled, .held: break
        }
        return reply
    }

    /// Returns a deposit as it is at the provider, if it is time to ask there, and as it was known
    /// before if there is no answer soon.
    func looked(at deposit: Deposit) async throws -> Deposit {
        guard deposit.isToBeLookedAt(at: ledger.now), let work else { return deposit }
        await work.refresh([deposit.id])
        return try await subject(deposit.id, of: deposit.owner)
    }

    /// Returns a page of a user's deposits, those that are open as they are at the provider.
    func lookedAtDeposits(of user: UserID, _ page: FundingPage) async throws -> [Deposit] {
        let deposits: [Deposit] = try await newest(of: user, page)
        let now = ledger.now
        let open = deposits.filter { $0.state.isOpen && $0.isToBeLookedAt(at: now) }
        guard let work, !open.isEmpty else { return deposits }
        await work.refresh(open.map(\.id))
        return try await newest(of: user, page)
    }

    /// Ends a deposit unless it was paid.
    ///
    /// - Throws: A refusal, or a problem: 503 while the provider has not said how it ended.
    func cancelDeposit(_ id: RecordID, of user: UserID) async throws -> Deposit {
        _ = try source(for: user)
        let work = try callable(by: user)
        var deposit = try await ledger.submit(CancelDeposit(id, user: user)).accepted()
        if deposit.state != .canceled, let work {
            _ = await work.drive(id)
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

    /// Makes a fresh link to the pages on which a payee says who they are; for a login of one who
    /// is set up, to those on which the bank account is changed.
    ///
    /// - Parameters:
    ///   - origin: This server's address for browsers.
    ///   - ticket: The ticket that opens it; `nil` for a login.
    func setUpLink(
        for user: UserID,
        at origin: String,
        with ticket: PayeeTicket? = nil
    ) async throws -> ConnectLinkReply {
        guard try source(for: user) != .mint, let work = try callable(by: user) else {
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
            _ = await work.drive(payee.id)
            payee = try await self.payee(of: user) ?? payee
        }
        guard let account = payee.body.account else {
            guard let error = payee.body.error else {
                throw Problem.providerUnavailable.retry(after: 2)
            }
            throw Problem(
                .providerRefused,
                detail: "The payment provider refused this: \(error.message)"
            )
        }
        let link: Result<ConnectLinkReply, Problem> =
            // An invitation opens no account that is in use.
            if payee.state == .active, ticket == nil {
                await work.dashboardLink(of: account)
            } else {
                await work.link(of: account, user: user, with: ticket)
            }
        if case .failure(let problem) = link,
            problem.code == ErrorCode.providerRefused.rawValue
        {
            // It may be closed: then its state says so from now on.
            _ = await work.drive(payee.id)
        }
        return try link.get()
    }

    /// Returns a payee's status as it is at the provider, if it is time to ask there.
    func newestStatus(of user: UserID) async throws -> ConnectStatusReply {
        let payee = try await payee(of: user)
        if let work, let payee, payee.isAccountToBeLookedAt(at: ledger.now) {
            await work.refresh([payee.id])
        }
        return try await status(of: user)
    }
}
