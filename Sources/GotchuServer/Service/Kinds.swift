internal import Funding
internal import Ledger
internal import Payments

/// All kinds of transfers and records, collected from the modules: decisions, `verify` and
/// histories use them.
extension TransferKind {
    static let all: [TransferKind] =
        [.opening, .payment, .refund, .stake, .release, .returned] + funding
}

extension RecordRule {
    static let all: [RecordRule] = [
        .sessions, .groups, .deposits, .withdrawals, .payees, .provider,
    ]
}

extension RecordKind {
    static let all: [RecordKind] = [
        SettleSession.kind, SettleGroup.kind, RecordKind(DepositBody.kind, settle: nil),
        RecordKind(WithdrawalBody.kind, settle: nil), RecordKind(PayeeBody.kind, settle: nil),
        RecordKind(ProviderBody.kind, settle: nil),
    ]
}
