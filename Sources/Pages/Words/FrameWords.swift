/// The words around the server's pages, in one language: navigation, login, problems, dates.
package struct FrameWords: Sendable {
    /// The name of the navigation.
    package let pages: String
    package let skip: String
    package let logOut: String
    package let earnings: String
    package let payouts: String
    package let contests: String
    package let devices: String
    package let webhooks: String
    package let wallet: String
    /// A webhook that needs somebody.
    package let failed: String
    /// With the time of what is shown.
    package let stale: String

    // Problems.
    package let nothingHere: String
    package let notNow: String
    package let notPossible: String
    /// With the seconds.
    package let triesAgain: String
    package let code: String
    /// Before a call's id.
    package let request: String
    package let toStart: String
    package let toContest: String
    package let toRequest: String
    /// Sends a press once more.
    package let findOut: String
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
    /// With the weekday, the day and the month.
    package let date: String
    /// From Monday.
    package let weekdays: [String]
    package let months: [String]
}
