import FoundationEssentials
package import GotchuAPI
import NIOCore
import NIOHTTP1

extension LocalClient {
    /// The longest line of a recording, in bytes.
    private static let recordLimit = 64 * 1024
    /// The longest line of the other streams, in bytes. The largest snapshot is much smaller.
    private static let valueLimit = 4 << 20

    /// Opens the stream of events while `body` runs.
    ///
    /// The first element is a snapshot of everything that the caller may see. Nothing is buffered
    /// beyond the connection's watermark. If the reader is slow, the socket becomes full. The
    /// daemon then drops events and reports their number with `lagged`. After a disconnect, the
    /// caller decides about a new connection.
    ///
    /// - Parameter sessions: True to receive presences too. The daemon's radio then listens for
    ///   them.
    package func withEvents<Result: Sendable>(
        sessions: Bool = false,
        _ body: (inout LocalStream<Event>) async throws -> Result
    ) async throws -> Result {
        try await withLines("/v1/events?sessions=\(sessions)", limit: Self.valueLimit) { lines in
            var events = LocalStream<Event>(lines: lines)
            return try await body(&events)
        }
    }

    /// Opens the stream of the display's states while `body` runs. A state can be repeated.
    package func withDisplay<Result: Sendable>(
        _ body: (inout LocalStream<DisplayReply>) async throws -> Result
    ) async throws -> Result {
        try await withLines("/v1/display/events", limit: Self.valueLimit) { lines in
            var states = LocalStream<DisplayReply>(lines: lines)
            return try await body(&states)
        }
    }

    /// Records what the daemon's radio receives while `body` runs, for at most `seconds`.
    ///
    /// The first line is the header. The caller needs the level `owner`.
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

/// The lines of a reply as they arrive, without line feeds. They end when the daemon ends the
/// reply.
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

/// The values of a stream as they arrive, one JSON document per line. Throws
/// `LocalClientFailure.connectionLost` if the daemon exits or ends the stream.
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
