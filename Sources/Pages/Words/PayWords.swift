/// The texts of the payer's pages of one request, in one language.
package struct PayWords: Sendable {
    // The request.
    /// The title of the page on which a request is paid, and the label of links and buttons to pay.
    package let pay: String
    /// Placeholder: the amount.
    package let payAmount: String
    /// Placeholder: the amount without the tip.
    package let payWithTip: String
    /// The label of the tip field.
    package let tip: String
    /// Placeholders: the amount and the tip.
    package let tipSum: String
    /// Placeholder: the last four characters of the EID, which the till shows too.
    package let compare: String
    package let lastMinute: String
    /// Placeholder: the number of minutes left.
    package let minutes: String
    package let logInToPay: String
    /// Placeholder: the balance.
    package let balanceNow: String
    package let toWallet: String

    // Reasons why it cannot be paid.
    package let own: String
    package let nobodyOwn: String
    package let beingPaid: String
    package let somebodyElse: String
    package let autoRefresh: String
    package let noPayments: String
    /// Placeholder: the currency's code.
    package let noWallet: String
    package let notEnough: String
    /// Placeholders: the balance and the missing amount.
    package let missing: String
    /// The same text as `missing`, for an earlier attempt.
    package let missingThen: String
    package let alreadyPaid: String
    package let otherPaid: String
    package let timeIsUp: String
    package let expired: String
    package let askAnew: String
    package let cancelled: String

    // After the press.
    package let paid: String
    package let isPaid: String
    package let youPaid: String
    /// Placeholder: the refunded amount.
    package let refunded: String
    /// Placeholder: the balance right after the payment.
    package let balanceThen: String
    package let outcomeUnknown: String
    package let notKnown: String
    package let doNotPayAgain: String
    package let checkNow: String
    package let samePayment: String
    package let notPaid: String
    package let ended: String
    package let viewAgain: String

    // Refusals: nothing was charged.
    package let nothingCharged: String
    package let insufficientBalance: String
    package let hasExpired: String
    package let wasCancelled: String
    package let paidOtherwise: String
    package let busy: String
    package let tooLong: String
    package let changed: String
    package let otherAmount: String
    package let noTip: String
    package let noSuchWallet: String
    package let payeeWalletFull: String
    package let gone: String
    /// Shown for the desk of a contest.
    package let notEntered: String
    package let youAreIn: String
    package let haveEntered: String
    package let theContest: String
    package let entriesClosed: String
    /// Placeholder: the code of the reason.
    package let impossible: String
    package let requestChanged: String
    package let malformedTip: String
    package let notCharged: String

    // The digits.
    package let unknown: String
    package let unknownText: String
    package let typeDigits: String
    package let notDigits: String
    package let digits: String
    package let show: String
    package let orCamera: String
}
