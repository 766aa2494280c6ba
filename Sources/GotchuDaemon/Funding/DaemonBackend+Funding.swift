import GotchuAPI
import GotchuCore
import LocalAPI
import PaymentClient
import ServiceProcess

/// Deposits and withdrawals. The server handles deposits. Withdrawals are journalled.
extension DaemonBackend {
    func openDeposit(
        _ new: NewDeposit,
        key: IdempotencyKey?
    ) async throws(Problem) -> IntentReply {
        try await loggedIn().openIntent(new.amountCents, key: key ?? .random())
            .getOrThrow(core.tokens)
    }

    func deposits() async throws(Problem) -> IntentsReply {
        try await loggedIn().intents().getOrThrow(core.tokens)
    }

    func deposit(_ id: String) async throws(Problem) -> IntentReply {
        try await loggedIn().intent(id).getOrThrow(core.tokens)
    }

    func cancelDeposit(_ id: String) async throws(Problem) -> IntentReply {
        try await loggedIn().cancelIntent(id).getOrThrow(core.tokens)
    }

    func withdraw(
        _ new: NewWithdrawal,
        key: IdempotencyKey?
    ) async throws(Problem) -> Created<WithdrawalView> {
        try await withdrawalService.create(new, key: key)
    }

    func withdrawal(_ id: String) async throws(Problem) -> WithdrawalView {
        try await withdrawalService.view(of: id)
    }

    func payouts() async throws(Problem) -> PayoutsReply {
        let client = try loggedIn()
        async let connect = client.connectStatus()
        async let earnings = client.earnings(of: EarningsSelection(.period(.all)))
        async let withdrawals = client.withdrawals()
        let list = try await withdrawals.getOrThrow(core.tokens)
        return PayoutsReply(
            connect: try await connect.getOrThrow(core.tokens),
            earnings: try await earnings.getOrThrow(core.tokens),
            withdrawable: list.withdrawable,
            withdrawals: list.withdrawals
        )
    }

    func payoutLink() async throws(Problem) -> ConnectLinkReply {
        try await loggedIn().connectLink().getOrThrow(core.tokens)
    }

    func earnings(_ selection: EarningsSelection) async throws(Problem) -> EarningsReply {
        try await loggedIn().earnings(of: selection.here()).getOrThrow(core.tokens)
    }

    func earningsHistory(
        _ selection: EarningsSelection,
        limit: Int64,
        cursor: String?
    ) async throws(Problem) -> EarningsHistoryReply {
        try await loggedIn().earningsHistory(of: selection.here(), limit: limit, cursor: cursor)
            .getOrThrow(core.tokens)
    }

    func loggedIn() throws(Problem) -> PaymentClient {
        guard core.tokens.token != nil else { throw .notLoggedIn(core.tokens) }
        return core.client
    }
}

extension EarningsSelection {
    /// The same selection with this machine's time zone if the selection has none.
    fileprivate func here() throws(Problem) -> EarningsSelection {
        if zone != nil { return self }
        do throws(LocalTimeZoneFailure) {
            return EarningsSelection(days, zone: try LocalTimeZone.current.name())
        } catch {
            throw Problem(.validationError, detail: error.sentence, fix: error.fix)
        }
    }
}
