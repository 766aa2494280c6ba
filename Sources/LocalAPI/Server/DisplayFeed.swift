package import GotchuAPI
import GotchuCore
import NIOCore
import Synchronization

/// Sends the display's state to its readers. Always sends the complete and newest state. A slow
/// reader delays no other reader.
package final class DisplayFeed: Sendable {
    /// The maximum number of readers from one source.
    package static let readerLimit = 8

    /// The origin of a reader.
    package enum Source: Sendable {
        /// Browsers, on the display's port.
        case port
        /// Programs, on the socket.
        case socket
    }

    private let state = Mutex(State())
    private let makeReply: @Sendable () -> DisplayReply
    private let onReaders: @Sendable () -> Void

    private struct State {
        var readers: [Int: Reader] = [:]
        var nextID = 0
    }

    /// - Parameters:
    ///   - makeReply: Returns the current display, with the remaining time.
    ///   - onReaders: Called when a reader was added or removed.
    package init(
        onReaders: @escaping @Sendable () -> Void,
        makeReply: @escaping @Sendable () -> DisplayReply
    ) {
        self.onReaders = onReaders
        self.makeReply = makeReply
    }

    /// The current state of the display.
    var reply: DisplayReply { makeReply() }

    /// Returns the current number of readers from a source.
    package func readers(of source: Source) -> Int {
        state.withLock { $0.readers.values.count { $0.source == source } }
    }

    package var hasReaders: Bool { state.withLock { !$0.readers.isEmpty } }

    /// Wakes every reader. Each then writes the current state as soon as it can.
    package func publish() {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.wake.yield() }
    }

    /// Ends every reader. Permissions are checked only when a reader subscribes.
    package func endReaders() {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.end() }
    }

    /// Adds a reader. It gets the current state first.
    ///
    /// - Returns: `nil` if the source has the maximum number of readers.
    func subscribe(from source: Source) -> Reader? {
        let reader: Reader? = state.withLock { state in
            guard state.readers.values.count(where: { $0.source == source }) < Self.readerLimit
            else { return nil }
            state.nextID += 1
            let id = state.nextID
            let reader = Reader(source) { [weak self] in
                guard let self else { return }
                self.state.withLock { _ = $0.readers.removeValue(forKey: id) }
                self.onReaders()
            }
            state.readers[id] = reader
            return reader
        }
        guard let reader else { return nil }
        reader.wake.yield()
        onReaders()
        return reader
    }

    final class Reader: Sendable {
        fileprivate let source: Source
        fileprivate let wake: AsyncStream<Void>.Continuation
        /// Yields an element whenever the state must be written.
        let wakes: AsyncStream<Void>

        fileprivate init(_ source: Source, onEnd: @escaping @Sendable () -> Void) {
            self.source = source
            (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
            wake.onTermination = { _ in onEnd() }
        }

        func end() { wake.finish() }
    }

    /// The current state as a line of JSON.
    var line: ByteBuffer {
        ByteBuffer(bytes: CanonicalJSON.bytes(of: makeReply()) + [UInt8(ascii: "\n")])
    }
}
