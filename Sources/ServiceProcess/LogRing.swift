import GotchuCore
import Synchronization

/// The newest log lines, for a bug report. Older ones are dropped.
package final class LogRing: Sendable {
    /// The number of lines that are kept.
    package static let lineLimit = 400
    /// The maximum length of a line in bytes. A longer line is cut to `byteLimit / 4` characters.
    static let byteLimit = 1024

    private let state = Mutex(State())

    private struct State {
        var lines: [String] = []
        /// The index of the oldest line once the ring is full.
        var start = 0
    }

    package init() {}

    /// Appends a line with the current time. A line that is too long is cut.
    package func append(_ line: String) {
        let short = line.utf8.count > Self.byteLimit ? "\(line.prefix(Self.byteLimit / 4)) …" : line
        let kept = "\(Timestamp.now.iso8601.prefix(19))Z \(short)"
        state.withLock { state in
            guard state.lines.count == Self.lineLimit else { return state.lines.append(kept) }
            state.lines[state.start] = kept
            state.start = (state.start + 1) % Self.lineLimit
        }
    }

    /// The lines, oldest first.
    package var lines: [String] {
        state.withLock { Array($0.lines[$0.start...] + $0.lines[..<$0.start]) }
    }
}
