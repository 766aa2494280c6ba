package import Ledger

/// The kinds of transfers for deposits and withdrawals.
extension TransferKind {
    /// All of them, for the table of kinds.
    package static let funding: [TransferKind] = [
        .deposit, .providerFee, .cardRefund, .cardRefundBack, .dispute, .disputeWon, .debtSettled,
        .debtForgiven, .withdrawal, .withdrawalReturned, .payoutSent, .payoutReversed, .payoutPaid,
        .payoutFailed, .platform,
    ]

    /// D1: a card was charged. On a development server the mint pays.
    static let deposit = provider(
        "DEPOSIT",
        from: [.house(.stripeBalance), .house(.developmentMint)],
        to: [.user],
        credit: .deposit,
        isAnswered: nil
    )
    /// D2: the provider's fee for one of its transactions.
    static let providerFee = provider(
        "PROVIDER_FEE",
        from: [.house(.stripeFees), .house(.stripeBalance)],
        to: [.house(.stripeBalance), .house(.stripeFees)]
    )
    /// D3: a charge was refunded at the provider.
    static let cardRefund = provider(
        "CARD_REFUND",
        from: [.user, .houseOf(.owed)],
        to: [.house(.stripeBalance)]
    )
    /// D4: a refund of a charge failed.
    static let cardRefundBack = provider(
        "CARD_REFUND_BACK",
        from: [.house(.stripeBalance)],
        to: [.user]
    )
    /// D5: a payer's bank reversed a charge.
    static let dispute = provider(
        "DISPUTE",
        from: [.user, .houseOf(.owed)],
        to: [.house(.stripeBalance)]
    )
    /// D6: the dispute was won, and the bank returned the money.
    static let disputeWon = provider(
        "DISPUTE_WON",
        from: [.house(.stripeBalance)],
        to: [.user]
    )
    /// A user's debt, settled with incoming money.
    static let debtSettled = provider(
        "DEBT_SETTLED",
        from: [.user],
        to: [.houseOf(.owed)]
    )
    /// A user's debt, forgiven by the operator.
    static let debtForgiven = provider(
        "DEBT_FORGIVEN",
        from: [.house(.losses)],
        to: [.houseOf(.owed)]
    )
    /// W1: a withdrawal leaves the wallet. On a development server the mint receives it. A
    /// withdrawal that the operator restores has no idempotency key.
    static let withdrawal = provider(
        "WITHDRAWAL",
        from: [.user],
        to: [.house(.withdrawals), .house(.developmentMint)],
        isAnswered: nil
    )
    /// W8: a withdrawal is returned to the wallet.
    package static let withdrawalReturned = provider(
        "WITHDRAWAL_RETURNED",
        from: [.house(.withdrawals)],
        to: [.user],
        credit: .refund
    )
    /// W2: a transfer to a connected account.
    static let payoutSent = provider(
        "PAYOUT_SENT",
        from: [.house(.stripePayouts)],
        to: [.house(.stripeBalance)]
    )
    /// W5: the reversal of a transfer to a connected account.
    static let payoutReversed = provider(
        "PAYOUT_REVERSED",
        from: [.house(.stripeBalance)],
        to: [.house(.stripePayouts)]
    )
    /// W4: a payout has arrived.
    static let payoutPaid = provider(
        "PAYOUT_PAID",
        from: [.house(.withdrawals)],
        to: [.house(.stripePayouts)]
    )
    /// W6: a payout failed after it was paid.
    static let payoutFailed = provider(
        "PAYOUT_FAILED",
        from: [.house(.stripePayouts)],
        to: [.house(.withdrawals)]
    )
    /// P1: one of the platform's own transactions.
    static let platform = provider(
        "PLATFORM",
        from: [.house(.platform), .house(.stripeBalance)],
        to: [.house(.stripeBalance), .house(.platform)]
    )

    private static func provider(
        _ name: String,
        from: Set<Party>,
        to: Set<Party>,
        credit: Face = .credit,
        isAnswered: Bool? = false
    ) -> TransferKind {
        TransferKind(
            name,
            from: from,
            to: to,
            steps: .facts,
            credit: credit,
            debitName: name,
            creditName: name,
            isAnswered: isAnswered
        )
    }
}
