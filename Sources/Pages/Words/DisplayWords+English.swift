extension DisplayWords {
    static let english = DisplayWords(
        isRightToLeft: false,
        money: MoneyFormat(decimal: ".", group: ",", isSymbolFirst: true),
        idle: Copy("Pay here with your phone", "Your cashier starts the payment"),
        closed: Copy("No phone payments right now", "Please ask at the till"),
        preparing: Copy("One moment", "We are getting your payment ready"),
        waiting: Copy("Hold your phone here", "Open your wallet app"),
        near: Copy("Phone found", "Check the amount on your phone"),
        confirming: Copy("Confirming", "Please keep your phone close"),
        released: Copy("Not paid yet", "Nothing was charged. Please try again"),
        paid: Copy("Paid", "Thank you!"),
        expired: Copy("Time is up", "Nothing was charged. Ask at the till"),
        cancelled: Copy("Cancelled", "Nothing was charged"),
        checking: Copy("Checking your payment", "Please wait and do not pay again"),
        unavailable: Copy("We cannot take this payment", "Nothing was charged. Ask at the till"),
        offline: Copy("Please wait", "If you have paid, do not pay again"),
        left: "left",
        code: "on your phone",
        scan: "No app? Scan to pay",
        offAir: "Just a moment …",
        silent: "Your payment may take a moment to show here",
        tip: "Tip",
        shares: "{paid} of {count} shares are paid",
        places: "Places left: {left}"
    )
}
