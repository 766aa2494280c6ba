import TestSupport
import Testing

/// Tests of the pages for shops, payers and merchants, with the real programs and Debian's
/// Chromium.
@Suite("In a real browser")
struct BrowserTests {
    @Test("The cases of `Story` are the stories of the Python package, in the same order")
    func list() async throws {
        #expect(try await BrowserRun.names() == Story.allCases.map(\.rawValue))
    }

    @Test(
        "The story passes in the browser",
        arguments: BrowserRun.stories
    )
    func story(story: Story) async throws {
        if let failure = try await BrowserRun.shared.failure(of: story) {
            let again = "Again: make browser STORY=\(story.rawValue)"
            let evidence = ".build/browser/\(story.rawValue) has pictures and logs"
            Issue.record("\(failure)\n\(evidence)\n\(again)")
        }
    }
}
