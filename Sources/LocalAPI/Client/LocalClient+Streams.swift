import FoundationEssentials
package import GotchuAPI
import NIOCore
import NIOHTTP1

extension LocalClient {
    /// The longest line of a recording, in bytes.
    private static let recordLimit = 64 * 1024
    /// The longest line of another stream: a snapshot of a full table is well below it.
    private static let valueLimit = 4 << 20

    /// Opens the stream of events for as long as `body` runs.
    ///
    /// The first element is a snapshot of everything that the caller may see. Nothing is buffered
    /// beyond the connection's watermark: a slow reader fills the socket, and the daemon then
    /// leaves events out and says so with `lagged`. Whether to come back when the daemon has gone
    /// away is the caller's decision.
    ///
    /// - Parameter sessions: True to get also what is heard; the daemon listens meanwhile.
    package func withEvents<Result: Sendable>(
        sessions: Bool = false,
        _ body: (inout LocalStream<Event>) async throws -> Result
    ) async throws -> Result {
        try await withLines("/v1/events?sessions=\(sessions)", limit: Self.valueLimit) { lines in
            var events = LocalStream<Event>(lines: lines)
            return try await body(&events)
        }
    }

    /// Opens the stream of the display's states for as long as `body` runs; the same state may come
    /// again.
    package func withDisplay<Result: Sendable>(
        _ body: (inout LocalStream<DisplayReply>) async throws -> Result
    ) async throws -> Result {
        try await withLines("/v1/display/events", limit: Self.valueLimit) { lines in
            var states = LocalStream<DisplayReply>(lines: lines)
            return try await body(&states)
        }
    }

    /// Records what the daemon's radio notices for as long as `body` runs, at most `seconds`.
    ///
    /// The first line is the header. The caller must be an owner.
    package func withRecording<Result: Sendable>(
        seconds: Int,
        _ body: (inout LocalLines) async throws -> Result
    ) async throws -> Result {
        try await withLines("/v1/recording?seconds=\(seconds)", limit: Self.recordLimit, body)
    }

    private func withLines<Result: Sendable>(
        _ path: String,
        limit: Int,
        _ body: (inout LocalLines) async throws -> Result
    ) async throws -> Result {
        try await withReply(.GET, path, bytes: nil, limit: Self.promptLimit) {
            _,
            parts,
            deadline in
            deadline.cancel()
            var lines = LocalLines(parts: parts, limit: limit)
            return try await body(&lines)
        }
    }
}

/// Lines of a reply as they arrive, without their line feeds. Ends where the daemon ends it.
package struct LocalLines: AsyncSequence, AsyncIteratorProtocol {
    private var parts: LocalClient.Parts
    private var lines: LineBuffer

    fileprivate init(parts: LocalClient.Parts, limit: Int) {
        self.parts = parts
        lines = LineBuffer(limit: limit)
    }

    package func makeAsyncIterator() -> LocalLines { self }

    package mutating func next() async throws -> [UInt8]? {
        try await next(isolation: nil)
    }

    package mutating func next(isolation actor: isolated (any Actor)?) async throws -> [UInt8]? {
        while true {
            if let line = try lines.nextLine() { return line }
            switch try await parts.next(isolation: actor) {
            case .body(let buffer): lines.append(buffer.readableBytesView)
            case .head: continue
            case .end: return nil
            case nil:
                try Task.checkCancellation()
                throw LocalClientFailure.connectionLost
            }
        }
    }
}

/// Values as they arrive, a JSON document on each line. Throws
/// `LocalClientFailure.connectionLost` when the daemon goes away or ends the stream.
package struct LocalStream<Element: Decodable>: AsyncSequence, AsyncIteratorProtocol {
    fileprivate var lines: LocalLines

    package func makeAsyncIterator() -> LocalStream { self }

    package mutating func next() async throws -> Element? {
        try await next(isolation: nil)
    }

    package mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
        guard let line = try await lines.next(isolation: actor) else {
            throw LocalClientFailure.connectionLost
        }
        return try LocalClient.decode(Data(line)) as Element
    }
}
