import Glibc
import NIOCore

/// A reader's connection, written by whoever has an event: the connection's event loop need not
/// wake for it.
///
/// Only for what the kernel has room for, and only while the event loop has nothing to write.
final class EventSocket: Sendable {
    /// A duplicate, so that it stays the connection's however that one ends.
    private let descriptor: Int32

    /// - Returns: `nil` when the process has no descriptor left.
    init?(duplicating descriptor: Int32) {
        self.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard self.descriptor >= 0 else { return nil }
    }

    /// - Returns: `nil` of a connection that is over.
    static func of(_ channel: any Channel) async -> EventSocket? {
        let found = channel.eventLoop.submit {
            try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
                of: NIOBSDSocket.Handle.self
            ) { EventSocket(duplicating: $0) }
        }
        return try? await found.get() ?? nil
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Writes a piece of the body if the kernel has room for it; never waits.
    ///
    /// - Returns: `false` if it has none, if the piece is too long for that, or if the connection
    ///   is over: the event loop is to write it, and notices that.
    func write(_ chunk: [UInt8]) -> Bool {
        guard chunk.count <= EventChunk.limit else { return false }
        let count = send(descriptor, chunk, chunk.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        if count == chunk.count { return true }
        // It takes a part only where the socket's buffer was made very small. Then nothing but the
        // rest may follow: the reader has to come again.
        if count > 0 { shutdown(descriptor, Int32(SHUT_RDWR)) }
        return false
    }
}
