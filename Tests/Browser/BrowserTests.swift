import TestSupport
import Testing

/// The pages for shops, payers and merchants, served by the real programs to Debian's Chromium.
@Suite("In a real browser")
struct BrowserTests {
    @Test("Every story of the Python package is listed here")
    func list() async throws {
        #expect(try await BrowserRun.names() == Story.allCases.map(\.rawValue))
    }

    @Test("A story", .timeLimit(.minutes(hangLimit)), arguments: BrowserRun.stories)
    func story(story: Story) async throws {
        if let failure = try await BrowserRun.shared.failure(of: story) {
            let again = "Again: make browser STORY=\(story.rawValue)"
            let evidence = ".build/browser/\(story.rawValue) has pictures and logs"
            Issue.record("\(failure)\n\(evidence)\n\(again)")
        }
    }
}
