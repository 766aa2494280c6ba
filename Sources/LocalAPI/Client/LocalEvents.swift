import FoundationEssentials
package import GotchuAPI
import NIOCore
import NIOHTTP1

/// The daemon's events as they arrive: `GET /v1/events`, one JSON document on each line.
package struct LocalEvents: AsyncSequence, AsyncIteratorProtocol {
    /// The longest line that is read: a snapshot of a full table is well below it.
    static let lineLimit = 4 << 20

    private var parts: LocalClient.Parts
    private var lines = LineBuffer(limit: lineLimit)

    init(parts: LocalClient.Parts) {
        self.parts = parts
    }

    package func makeAsyncIterator() -> LocalEvents { self }

    package mutating func next() async throws -> Event? {
        try await next(isolation: nil)
    }

    package mutating func next(isolation actor: isolated (any Actor)?) async throws -> Event? {
        while true {
            if let line = try lines.nextLine() {
                return try Self.decode(line)
            }
            guard case .body(let buffer) = try await parts.next(isolation: actor) else {
                try Task.checkCancellation()
                throw LocalClientFailure.connectionLost
            }
            lines.append(buffer.readableBytesView)
        }
    }

    private static func decode(_ line: [UInt8]) throws -> Event {
        do {
            return try JSONDecoder().decode(Event.self, from: Data(line))
        } catch {
            throw LocalClientFailure.unreadableReply(underlying: String(describing: error))
        }
    }
}
