internal import Ledger
internal import Payments

/// The kinds of transfers and records that there are, put together from the modules: what the
/// ledger decides by, `verify` demands, and histories show.
extension TransferKind {
    static let all: [TransferKind] = [.opening, .payment, .refund]
}

extension RecordRule {
    static let all: [RecordRule] = [.sessions]
}

extension RecordKind {
    static let all: [RecordKind] = [SettleSession.kind]
}
