package import GotchuAPI
import GotchuCore
import NIOCore
import Synchronization

/// The way of the display's state to its readers: each is written the whole state, and only the
/// newest. Nothing waits for a reader.
package final class DisplayFeed: Sendable {
    /// The readers that there can be of one source.
    package static let readerLimit = 8

    /// A way by which readers come.
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
    ///   - makeReply: The display as it is now, with the time that is left.
    ///   - onReaders: Called when a reader has come or gone.
    package init(
        onReaders: @escaping @Sendable () -> Void,
        makeReply: @escaping @Sendable () -> DisplayReply
    ) {
        self.onReaders = onReaders
        self.makeReply = makeReply
    }

    /// The display as it is now.
    var reply: DisplayReply { makeReply() }

    /// The number of readers now.
    package func readers(of source: Source) -> Int {
        state.withLock { $0.readers.values.count { $0.source == source } }
    }

    package var hasReaders: Bool { state.withLock { !$0.readers.isEmpty } }

    /// Has every reader written the state as it is when it can read.
    package func publish() {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.wake.yield() }
    }

    /// Ends every reader: what it may read was decided when it came.
    package func endReaders() {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.end() }
    }

    /// Begins to write the display to a reader.
    ///
    /// - Returns: `nil` if there are as many readers as there can be.
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

    /// One reader.
    final class Reader: Sendable {
        fileprivate let source: Source
        fileprivate let wake: AsyncStream<Void>.Continuation
        /// An element whenever the state is to be written.
        let wakes: AsyncStream<Void>

        fileprivate init(_ source: Source, onEnd: @escaping @Sendable () -> Void) {
            self.source = source
            (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
            wake.onTermination = { _ in onEnd() }
        }

        func end() { wake.finish() }
    }

    /// The state now as a line of JSON.
    var line: ByteBuffer {
        ByteBuffer(bytes: CanonicalJSON.bytes(of: makeReply()) + [UInt8(ascii: "\n")])
    }
}
