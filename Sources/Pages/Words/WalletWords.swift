/// The texts of a wallet's page and of deposits, in one language.
package struct WalletWords: Sendable {
    // The wallet.
    package let currency: String
    package let refresh: String
    package let balance: String
    package let history: String
    package let nothingYet: String
    package let paymentsHere: String
    package let older: String
    package let when: String
    package let what: String
    package let amount: String
    package let deposit: String
    package let paid: String
    /// Placeholder: the payee's name.
    package let paidTo: String
    package let received: String
    package let refundGiven: String
    /// Placeholder: the payee's name.
    package let refundFrom: String
    package let refundReceived: String

    // Adding money.
    package let addMoney: String
    package let amountInDollars: String
    package let development: String
    package let byCard: String
    /// Placeholders: the minimum and maximum amount of a deposit, the deposits per hour, the open
    /// deposits, and the maximum balance.
    package let limits: String
    package let deposits: String
    package let state: String
    package let act: String
    /// Placeholder: the time.
    package let until: String
    package let waiting: String
    package let confirming: String
    package let held: String
    package let added: String
    package let failed: String
    package let cancelled: String
    package let cancel: String
    /// Placeholder: the amount.
    package let pageUnknown: String

    // The provider's pages.
    package let atProvider: String
    package let goOn: String
    package let providersPage: String
    package let back: String
    package let backText: String
    package let left: String
    package let leftText: String
    package let goOnHere: String

    // Notices after a form.
    package let moneyAdded: String
    package let malformedDeposit: String
    package let depositLimit: String
    package let tooManyDeposits: String
    package let depositRefused: String
    package let depositUnpayable: String
    package let depositCancelled: String
    package let depositReturned: String
    package let depositLeft: String
}
