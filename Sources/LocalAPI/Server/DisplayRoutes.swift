import GotchuAPI
import HTTPTypes
import HummingbirdCore
import NIOCore
import ServiceLifecycle

/// The read-only routes of the customer's display, on the socket and on the display's port.
package struct DisplayRoutes: Sendable {
    private let feed: DisplayFeed
    private let source: DisplayFeed.Source

    package init(feed: DisplayFeed, source: DisplayFeed.Source) {
        self.feed = feed
        self.source = source
    }

    /// - Parameter level: The level that a caller needs.
    package func add(to table: LevelledRouter, level: AccessLevel) {
        table.add(level, .get, "/v1/display") { _, _ in .json(feed.reply) }
        table.addStream(level, .get, "/v1/display/events") { _, context in
            try states(context)
        }
    }

    /// Answers `GET /v1/display/events`: sends the complete state at once, after each change, and
    /// as a heartbeat.
    private func states(_ context: LocalContext) throws -> Response {
        guard let reader = feed.subscribe(from: source) else {
            throw Problem(
                .rateLimited,
                detail: "The display may have \(DisplayFeed.readerLimit) readers.",
                fix: "Close displays that are not needed."
            )
        }
        // Releases the reader's slot as soon as the connection closes, without waiting for a failed
        // write.
        context.channel.closeFuture.whenComplete { _ in reader.end() }
        return Response(
            status: .ok,
            headers: [.contentType: "application/x-ndjson"],
            body: ResponseBody { writer in
                try await withGracefulShutdownHandler {
                    for await _ in reader.wakes { try await writer.write(feed.line) }
                } onGracefulShutdown: {
                    reader.end()
                }
                try await writer.finish(nil)
            }
        )
    }
}
