package import Ledger

extension TransferKind {
    /// The transfer that ends a contest: it pays the prizes, the organiser's part, and the house's
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
