import NIOCore
import NIOHTTP1

/// Lines of a reply as they arrive, without their line feeds. Ends where the daemon ends it.
package struct LocalLines: AsyncSequence, AsyncIteratorProtocol {
    /// The longest line that is read.
    private static let lineLimit = 64 * 1024

    private var parts: LocalClient.Parts
    private var lines = LineBuffer(limit: lineLimit)

    init(parts: LocalClient.Parts) {
        self.parts = parts
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

extension LocalClient {
    /// Records what the daemon's radio notices for as long as `body` runs, at most `seconds`.
    ///
    /// The first line is the header. The caller must be an owner.
    package func withRecording<Result: Sendable>(
        seconds: Int,
        _ body: (inout LocalLines) async throws -> Result
    ) async throws -> Result {
        let path = "/v1/recording?seconds=\(seconds)"
        return try await withReply(.GET, path, bytes: nil, limit: Self.promptLimit) {
            parts,
            deadline in
            deadline.cancel()
            var lines = LocalLines(parts: parts)
            return try await body(&lines)
        }
    }
}
