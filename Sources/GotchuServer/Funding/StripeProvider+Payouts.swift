internal import Funding
internal import GotchuCore
internal import Ledger
internal import Stripe

/// Payees at Stripe, and the two steps of a withdrawal: a transfer to the payee's account, then a
/// payout from there to their bank.
extension StripeProvider {
    static let withdrawalMetadataKey = "gotchu_withdrawal"
    static let userMetadataKey = "gotchu_user"

    // MARK: Payees

    func open(_ order: PayeeOrder) async -> CallResult {
        let call = StripeCall.createAccount(
            metadata: [Self.userMetadataKey: order.user.rawValue],
            key: CallKey(ours: order.key)
        )
        let outcome = await client.send(call)
        return await creationResult(outcome, orFind: { await find(order) }) { account in
            CallResult(.payee(SeenPayee(account)))
        }
    }

    func read(account: String) async -> CallResult {
        let outcome = await client.send(.account(account))
        // A closed account can no longer be read. Any other refusal is a fault on our side.
        if case .refused(let problem) = outcome,
            ["account_invalid", "resource_missing"].contains(problem.code)
        {
            return CallResult(.refused(ProviderRefusal(.other, problem)))
        }
        return await lookupResult(outcome) { CallResult(.payee(SeenPayee($0))) }
    }

    func find(_ order: PayeeOrder) async -> CallResult {
        let user = order.user.rawValue
        let from = order.createdAt.advanced(by: .zero - Self.clockDifference)
        let outcome = await search(
            { .accounts(from: from, after: $0) },
            for: {
                $0.metadata[Self.userMetadataKey] == user && !order.pastAccounts.contains($0.id)
            }
        )
        return await lookupResult(outcome) { found in
            CallResult(found.map { .payee(SeenPayee($0)) } ?? .absent)
        }
    }

    /// Creates a new link to Stripe's onboarding pages.
    ///
    /// - Parameter back: The path to which the pages return if the link was used or has expired.
    func link(to account: String, back: String) async -> StripeOutcome<AccountLink> {
        await client.send(
            .createAccountLink(
                account: account,
                refresh: site.origin + back,
                back: site.origin + WebPath.connected,
                key: Self.linkKey
            )
        )
    }

    /// Creates a new link to Stripe's dashboard for an onboarded payee.
    func dashboardLink(of account: String) async -> StripeOutcome<AccountLink> {
        await client.send(.createLoginLink(account: account, key: Self.linkKey)).then {
            .done(AccountLink($0))
        }
    }

    /// A new key at each access: a link works once, so a repeated reply is useless.
    private static var linkKey: CallKey { CallKey(ours: "gotchu-link-\(RecordID.make())") }

    // MARK: Transfers

    func send(_ order: TransferOrder) async -> CallResult {
        let call = StripeCall.createTransfer(
            // The destination may be the account of another user, to which this user is linked.
            NamedAmount(order.amount, withdrawal: order.withdrawal, of: order.user),
            to: order.destination,
            group: order.withdrawal.rawValue,
            key: CallKey(ours: order.key)
        )
        let outcome = await client.send(call)
        return await creationResult(outcome, orFind: { await find(order) }) {
            CallResult(Self.observation(of: $0))
        }
    }

    func read(transfer: String) async -> CallResult {
        await lookupResult(await client.send(.transfer(transfer))) {
            CallResult(Self.observation(of: $0))
        }
    }

    func find(_ order: TransferOrder) async -> CallResult {
        let group = order.withdrawal.rawValue
        // A transfer that was reversed belongs to an earlier attempt.
        let outcome = await search(
            { .transfers(group: group, after: $0) },
            for: {
                $0.amountReversed < $0.amount && $0.metadata[Self.withdrawalMetadataKey] == group
            }
        )
        return await lookupResult(outcome) { CallResult($0.map(Self.observation) ?? .absent) }
    }

    /// Reverses a whole transfer, and returns the transfer's state.
    func reverse(_ order: ReversalOrder) async -> CallResult {
        let call = StripeCall.createReversal(
            of: order.transfer,
            amount: order.amount.minorUnits,
            metadata: [Self.withdrawalMetadataKey: order.withdrawal.rawValue],
            key: CallKey(ours: order.key)
        )
        let outcome = await client.send(call)
        let read = await read(transfer: order.transfer)
        // An earlier attempt may have reversed the transfer, so the transfer's state decides.
        if case .transfer(let seen) = read.observation, seen.reversal != nil { return read }
        return await creationResult(outcome, orFind: { read }) { _ in read }
    }

    private static func observation(of transfer: StripeTransfer) -> Observation {
        guard let destination = transfer.destination?.id else {
            return .unknown(after: unreadableDelay)
        }
        let isReversed = transfer.amountReversed == transfer.amount
        return .transfer(
            SeenTransfer(
                id: transfer.id,
                amount: isReversed ? transfer.amount : transfer.amount - transfer.amountReversed,
                currency: transfer.currency,
                destination: destination,
                reversal: isReversed ? transfer.reversals.data.first?.id : nil
            )
        )
    }

    // MARK: Payouts

    func send(_ order: PayoutOrder) async -> CallResult {
        let call = StripeCall.createPayout(
            NamedAmount(order.amount, withdrawal: order.withdrawal),
            from: order.account,
            destination: order.bankAccount,
            key: CallKey(ours: order.key)
        )
        let outcome = await client.send(call)
        return await creationResult(outcome, orFind: { await find(order) }) {
            CallResult(Self.observation(of: $0))
        }
    }

    func read(_ reference: PayoutReference) async -> CallResult {
        await lookupResult(await client.send(.payout(reference.payout, of: reference.account))) {
            CallResult(Self.observation(of: $0))
        }
    }

    func find(_ order: PayoutOrder) async -> CallResult {
        let from = order.createdAt.advanced(by: .zero - Self.clockDifference)
        let withdrawal = order.withdrawal.rawValue
        // A payout that failed or was reversed belongs to an earlier attempt: its money is back in
        // the account.
        let outcome = await search(
            { .payouts(of: order.account, from: from, after: $0) },
            for: { payout in
                payout.metadata[Self.withdrawalMetadataKey] == withdrawal
                    && payout.status != .failed && payout.status != .canceled
                    && payout.reversedBy == nil
            }
        )
        return await lookupResult(outcome) { CallResult($0.map(Self.observation) ?? .absent) }
    }

    private static func observation(of payout: StripePayout) -> Observation {
        guard let status = SeenPayout.Status(payout) else {
            return .unknown(after: unreadableDelay)
        }
        return .payout(
            SeenPayout(
                id: payout.id,
                status: status,
                amount: payout.amount,
                currency: payout.currency,
                arrivesAt: payout.arrivalDate,
                failure: payout.failureCode.map {
                    ProviderNotice(code: $0, message: payout.failureMessage ?? "")
                }
            )
        )
    }
}

extension NamedAmount {
    fileprivate init(_ amount: Money, withdrawal: RecordID, of user: UserID? = nil) {
        var metadata = [StripeProvider.withdrawalMetadataKey: withdrawal.rawValue]
        metadata[StripeProvider.userMetadataKey] = user?.rawValue
        self.init(amount: amount.minorUnits, currency: amount.currency, metadata: metadata)
    }
}

extension SeenPayee {
    fileprivate init(_ account: ConnectedAccount) {
        self.init(
            account: account.id,
            user: account.metadata[StripeProvider.userMetadataKey],
            canReceive: account.transfers == .active,
            chargesEnabled: account.isChargesEnabled,
            payoutsEnabled: account.isPayoutsEnabled,
            detailsSubmitted: account.isDetailsSubmitted,
            currentlyDue: account.currentlyDue,
            isPastDue: !account.pastDue.isEmpty,
            disabledReason: account.disabledReason,
            currentDeadline: account.currentDeadline
        )
    }
}

extension SeenPayout.Status {
    fileprivate init?(_ payout: StripePayout) {
        guard payout.reversedBy == nil else {
            self = .failed
            return
        }
        switch payout.status {
        case .pending: self = .pending
        case .inTransit: self = .inTransit
        case .paid: self = .paid
        case .failed: self = .failed
        case .canceled: self = .canceled
        case .unknown: return nil
        }
    }
}
