/// The texts around the server's pages in one language: navigation, login, problems, dates.
package struct LayoutWords: Sendable {
    /// The label of the navigation, for screen readers.
    package let pages: String
    package let skip: String
    package let logOut: String
    package let earnings: String
    package let payouts: String
    package let contests: String
    package let devices: String
    package let webhooks: String
    package let wallet: String
    /// Shown for a webhook that needs attention.
    package let failed: String
    /// Placeholder: the time of the data shown.
    package let stale: String

    // Problems.
    package let nothingHere: String
    package let notNow: String
    package let notPossible: String
    /// Placeholder: the number of seconds.
    package let triesAgain: String
    package let code: String
    /// Shown before the server's id of an HTTP request.
    package let request: String
    package let toStart: String
    package let toContest: String
    package let toRequest: String
    /// The label of the button that submits a form again, with the same key.
    package let checkOutcome: String
    package let sameAgain: String

    // The login.
    package let logIn: String
    package let email: String
    package let developmentLogin: String
    package let providerLogin: String
    package let loggedOut: String
    package let loginTooNarrow: String
    package let loginWithoutPayouts: String

    // Dates.
    package let today: String
    /// Placeholders: the weekday, the day and the month, in that order.
    package let date: String
    /// The weekdays, starting with Monday.
    package let weekdays: [String]
    package let months: [String]
}
