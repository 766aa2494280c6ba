/// `GET /v1/bugreport`: everything that helps to find a fault, without private data.
package struct BugReportReply: Codable, Equatable, Sendable {
    /// Text for people, in sections that begin with `== `.
    package var text: String

    package init(text: String) {
        self.text = text
    }
}
