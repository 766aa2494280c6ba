import Funding
import GotchuCore
import LedgerTestSupport
import Payments

@testable import Ledger

/// Commands about deposits, withdrawals and payees. In their order each command has an effect.
enum FundingStory {
    typealias Command = @Sendable (Timestamp) throws -> any Submission

    private static let user = Cast.users[0]
    private static let deposit = RecordID(trusted: "deposit-0")
    private static let withdrawal = RecordID(trusted: "withdrawal-0")
    private static let payee = Payee.id(of: user)

    /// The commands, to be decided at different times.
    static let commands: [Command] = [
        plain(Cast.openAccount(0)),
        plain(BindProvider(account: "acct_own", isLive: false)),
        keyed(
            OpenDeposit(
                user: user,
                amount: Money(minorUnits: 2_000),
                reference: "table 7",
                presentation: .hosted,
                source: .provider(isLive: false),
                limits: DepositLimits(
                    defaultDepositMaximum: 50_000,
                    defaultBalanceMaximum: 200_000,
                    recent: 0,
                    settled: 0
                ),
                id: deposit
            ),
            "key-of-a-deposit-0"
        ),
        plain(Wake(deposit)),
        plain(Observe(deposit, seen(refunded: nil))),
        plain(PutPayee(user)),
        plain(Observe(payee, .payee(onboarded))),
        keyed(
            RequestWithdrawal(
                user: user,
                amount: Money(minorUnits: 1_500),
                bankAccount: "ba_1",
                source: .provider(isLive: false),
                // The two entries are the opening and the deposit.
                hold: WithdrawalHold(entryCount: 2, heldAmount: 0),
                needsRelease: true,
                id: withdrawal
            ),
            "key-of-a-withdrawal-0"
        ),
        plain(ReleasePayee(user, withdrawals: [withdrawal])),
        plain(Wake(withdrawal)),
        plain(Observe(withdrawal, .transfer(transfer))),
        plain(Observe(withdrawal, .payout(payout(.inTransit)))),
        plain(Observe(withdrawal, .payout(payout(.paid)))),
        // The refund exceeds the wallet's balance.
        plain(Observe(deposit, seen(refunded: 2_000))),
        plain(
            ForgiveDebt(
                user,
                Money(minorUnits: 100),
                of: 2_000 - Cast.opening - 500,
                id: RecordID(trusted: "f-0")
            )
        ),
        plain(BookTransaction(line("txn_9", "topup", 700))),
        plain(AdvanceWatermark(to: Timestamp(milliseconds: 5_000))),
        plain(SetTerms(user) { $0.depositMaximum = 100_000 }),
        plain(Observe(withdrawal, .payout(payout(.failed)))),
    ]

    private static func plain(_ command: some LedgerCommand) -> Command {
        { Pending(command, at: $0) { _ in } }
    }

    private static func keyed(_ command: some KeyedCommand, _ key: String) -> Command {
        { Pending(command, as: try KeyedRequest.test(user: user, key: key), at: $0) { _ in } }
    }

    private static let onboarded = SeenPayee(
        account: "acct_1",
        user: user.rawValue,
        canReceive: true,
        chargesEnabled: false,
        payoutsEnabled: true,
        detailsSubmitted: true
    )

    private static let transfer = SeenTransfer(
        id: "tr_1",
        amount: 1_500,
        currency: "usd",
        destination: "acct_1"
    )

    private static func payout(_ status: SeenPayout.Status) -> SeenPayout {
        SeenPayout(id: "po_1", status: status, amount: 1_500, currency: "usd")
    }

    private static func line(
        _ id: String,
        _ type: String,
        _ amount: Int64,
        fee: Int64 = 0
    ) -> SeenTransaction {
        SeenTransaction(id: id, type: type, amount: amount, fee: fee, currency: "usd")
    }

    private static func seen(refunded: Int64?) -> Observation {
        let refunds = refunded.map {
            [SeenReversal(id: "re_1", amount: $0, out: line("txn_2", "refund", -$0))]
        }
        return .deposit(
            SeenDeposit(
                intent: "pi_1",
                checkout: "cs_1",
                status: .succeeded,
                amount: 2_000,
                currency: "usd",
                isLive: false,
                deposit: deposit.rawValue,
                charge: SeenCharge(
                    transaction: line("txn_1", "charge", 2_000, fee: 88),
                    refunds: refunds ?? []
                )
            )
        )
    }
}
