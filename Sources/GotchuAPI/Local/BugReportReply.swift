/// `GET /v1/bugreport`: a report for finding faults, without private data.
package struct BugReportReply: Codable, Equatable, Sendable {
    /// Text for people, in sections that begin with `== `.
    package var text: String

    package init(text: String) {
        self.text = text
    }
}
