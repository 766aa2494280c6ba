import HTTPTypes
package import LocalAPI
package import Pages

/// The routes of the customer's display. All are read-only.
package struct DisplayScreen: Sendable {
    private let page: DisplayPage
    private let feed: DisplayFeed

    package init(page: DisplayPage, feed: DisplayFeed) {
        self.page = page
        self.feed = feed
    }

    package func add(to table: LevelledRouter) {
        table.add(.viewer, .get, "/display") { [page] _, _ in .page(page.html) }
        if let logo = page.logo {
            table.add(.viewer, .get, logo.path) { _, _ in .asset(logo) }
        }
        DisplayRoutes(feed: feed, source: .port).add(to: table, level: .viewer)
    }
}
