internal import GotchuAPI
internal import GotchuCore
internal import Ledger

extension WalletEntry {
    init(_ entry: WalletStatement.Entry) {
        let isDebit = entry.amount.minorUnits < 0
        let type =
            switch entry.kind {
            case .payment: isDebit ? "SEND_P2P" : "RECEIVE_P2P"
            case .refund: isDebit ? "SEND_REFUND" : "RECEIVE_REFUND"
            case .developmentOpening: "DEV_OPENING"
            }
        self.init(
            id: entry.transfer.rawValue,
            type: type,
            direction: isDebit ? .debit : .credit,
            amountCents: WireInteger(abs(entry.amount.minorUnits)),
            currency: entry.amount.currency,
            memo: entry.memo,
            createdAt: entry.createdAt
        )
    }
}

extension SendOutcomeReply {
    init(_ send: RememberedSend) {
        switch send.outcome {
        case .paid(let transfer, let newBalance):
            self.init(
                outcome: .paid,
                status: 200,
                sid: send.session,
                transferID: transfer.rawValue,
                newBalanceCents: WireInteger(newBalance)
            )
        case .declined(let refusal):
            let problem = refusal.problem
            self.init(
                outcome: .declined,
                status: problem.status,
                sid: send.session,
                code: problem.code,
                detail: problem.detail
            )
        }
    }
}
