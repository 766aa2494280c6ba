extension WalletWords {
    static let english = WalletWords(
        currency: "Currency",
        refresh: "Refresh",
        balance: "Balance",
        history: "History",
        nothingYet: "Nothing yet",
        paymentsHere: "Payments will be here.",
        older: "Older",
        when: "When",
        what: "What",
        amount: "Amount",
        deposit: "Deposit",
        paid: "Paid",
        paidTo: "Paid to {}",
        received: "Received",
        refundGiven: "Refund given",
        refundFrom: "Refund from {}",
        refundReceived: "Refund received",
        addMoney: "Add money",
        amountInDollars: "Amount in dollars",
        development: "This is a development server: the money is not real, and is there at once.",
        byCard: "You pay by card on the payment provider's page, and come back here.",
        limits:
            "{} to {} at a time, at most {} times an hour, {} of them not paid yet. The "
            + "wallet then holds {} at most.",
        deposits: "Money added",
        state: "State",
        act: "Do",
        until: "until {}",
        waiting: "Waiting for payment",
        confirming: "Being confirmed",
        held: "Looked at by the operator",
        added: "Added",
        failed: "Failed",
        cancelled: "Cancelled",
        cancel: "Cancel",
        pageUnknown:
            "It is not known yet whether the payment page for {} was made. Nothing is "
            + "charged before you pay there.",
        atProvider: "Go on at the payment provider",
        goOn: "Go on",
        providersPage: "The page is the payment provider's, and leads back here.",
        back: "Back from the payment page",
        backText:
            "If you have paid, the money is in the wallet as soon as the payment provider "
            + "has confirmed it. It cannot be charged twice.",
        left: "The payment page was left",
        leftText: "If you have not paid, nothing is charged. The wallet says what became of it.",
        goOnHere: "Go on here",
        moneyAdded: "Added: the money is in your wallet.",
        malformedDeposit:
            "Nothing was charged: the amount must be one such as 20 or 20.50, within the "
            + "limits.",
        depositLimit:
            "Nothing was charged: it is more than this wallet may take now. The limits are "
            + "below.",
        tooManyDeposits:
            "Nothing was charged: too many deposits are open, or were made within an hour. Pay or "
            + "cancel one below, or wait.",
        depositRefused: "The payment provider refused this. Nothing was charged.",
        depositUnpayable: "This cannot be paid any more. Its state is below.",
        depositCancelled: "Cancelled. Nothing was charged.",
        depositReturned:
            "You are back from the payment page. The money is yours once its state says "
            + "Added.",
        depositLeft: "You have left the payment page. What became of it is below."
    )
}
