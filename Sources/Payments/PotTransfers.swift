package import Ledger

/// The kinds of transfers into and out of pots: of contests, and of bills that several pay.
extension TransferKind {
    /// The kind of what is put into a pot: by a payer under a number, or as an added prize.
    package static let stake = TransferKind(
        "STAKE",
        from: [.user],
        to: [.pot],
        steps: .any(of: [.numbered("in"), .once("prize")]),
        debitName: "SEND_STAKE",
        creditName: "RECEIVE_STAKE",
        isAnswered: false
    )

    /// The kind of a pot's end that pays those for whom it was meant.
    package static let release = TransferKind(
        "RELEASE",
        from: [.pot],
        to: [.user, .houseOf(.take)],
        steps: .once("end"),
        debitName: "SEND_RELEASE",
        creditName: "RECEIVE_RELEASE",
        isAnswered: false
    )

    /// The kind of money that goes back to those who put it into a pot: to one payer under a
    /// number, or to all as the pot's end. `end` is a release's step too: a pot never does both.
    package static let returned = TransferKind(
        "RETURN",
        from: [.pot],
        to: [.user],
        steps: .any(of: [.numbered("out"), .once("end")]),
        debit: .refund,
        credit: .refund,
        debitName: "SEND_RETURN",
        creditName: "RECEIVE_RETURN",
        isAnswered: false
    )
}
