internal import Contests
internal import Funding
internal import Ledger
internal import Payments

/// All kinds of transfers from all modules, for decisions, `verify` and histories.
extension TransferKind {
    static let all: [TransferKind] =
        [.opening, .payment, .refund, .stake, .release, .returned, .prize] + funding
}

extension RecordRule {
    static let all: [RecordRule] =
        [.sessions, .groups, .deposits, .withdrawals, .payees, .provider] + contests
}

extension GroupPurposes {
    static let all = GroupPurposes([Split(), Desk()])
}

extension RecordKind {
    static let all: [RecordKind] = [
        SettleSession.kind, SettleGroup.kind, SweepContest.kind,
        RecordKind(DepositBody.kind, settle: nil), RecordKind(WithdrawalBody.kind, settle: nil),
        RecordKind(PayeeBody.kind, settle: nil), RecordKind(ProviderBody.kind, settle: nil),
    ]

    /// The names of all kinds other than deposits and withdrawals.
    static let othersThanFunding = all.map(\.name).filter {
        $0 != DepositBody.kind && $0 != WithdrawalBody.kind
    }
}
