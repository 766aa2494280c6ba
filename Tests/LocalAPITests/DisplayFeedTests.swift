import GotchuAPI
import GotchuCore
import NIOCore
import Synchronization
import Testing

@testable import LocalAPI

@Suite("The display's feed")
struct DisplayFeedTests {
    /// A source of the display's content. It also counts the calls of `onReaders`.
    private final class Source: Sendable {
        let shown = Mutex(0)
        let readerChanges = Mutex(0)

        func feed() -> DisplayFeed {
            DisplayFeed(onReaders: { self.readerChanges.withLock { $0 += 1 } }) {
                DisplayReply(
                    build: "1",
                    state: .idle,
                    language: .english,
                    isRightToLeft: false,
                    headline: "\(self.shown.withLock(\.self))"
                )
            }
        }
    }

    @Test("A reader that has not read yet gets only the newest of many changes")
    func newest() async throws {
        let source = Source()
        let feed = source.feed()
        let reader = try #require(feed.subscribe(from: .port))
        for number in 1...1000 {
            source.shown.withLock { $0 = number }
            feed.publish()
        }
        reader.end()
        var lines: [String] = []
        for await _ in reader.wakes { lines.append(String(buffer: feed.line)) }
        #expect(lines.count == 1)
        #expect(lines[0].contains(#""headline":"1000""#) && lines[0].hasSuffix("}\n"))
    }

    @Test("Eight readers on the port are admitted, and a place is free after a reader has ended")
    func limit() throws {
        let source = Source()
        let feed = source.feed()
        let readers = (0..<8).compactMap { _ in feed.subscribe(from: .port) }
        #expect(readers.count == 8 && feed.readers(of: .port) == 8)
        #expect(feed.subscribe(from: .port) == nil)
        let other = try #require(feed.subscribe(from: .socket))
        readers[3].end()
        #expect(feed.readers(of: .port) == 7 && feed.subscribe(from: .port) != nil)
        feed.endReaders()
        #expect(!feed.hasReaders)
        other.end()
        // Ten readers began and ended, so there were twenty calls.
        #expect(source.readerChanges.withLock(\.self) == 20)
    }
}
