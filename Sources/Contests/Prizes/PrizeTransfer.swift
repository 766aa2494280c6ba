package import Ledger

extension TransferKind {
    /// The kind of a contest's end that pays its prizes, what the organiser keeps, and the house's
    /// part of that.
    package static let prize = TransferKind(
        "PRIZE",
        from: [.pot],
        to: [.user, .houseOf(.take)],
        steps: .once("end"),
        debitName: "SEND_PRIZE",
        creditName: "RECEIVE_PRIZE",
        isAnswered: nil
    )
}
