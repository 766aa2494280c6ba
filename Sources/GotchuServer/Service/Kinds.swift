internal import Contests
internal import Ledger
internal import Payments

/// All kinds of transfers and records, collected from the modules: decisions, `verify` and
/// histories use them.
extension TransferKind {
    static let all: [TransferKind] = [
        .opening, .payment, .refund, .stake, .release, .returned,
    ]
}

extension RecordRule {
    static let all: [RecordRule] = [.sessions] + contests
}

extension RecordKind {
    static let all: [RecordKind] = [SettleSession.kind, SweepContest.kind]
}
