/// `GET /v1/bugreport`: a report for finding faults, without private data.
package struct BugReportReply: Codable, Equatable, Sendable {
    /// The text, for people. Each section begins with `== `.
    package var text: String

    package init(text: String) {
        self.text = text
    }
}
