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
    /// - Returns: `false` if it has none or the connection is over: the event loop is to write it,
    ///   and notices that.
    func write(_ chunk: [UInt8]) -> Bool {
        let count = send(descriptor, chunk, chunk.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        if count == chunk.count { return true }
        // A Unix socket takes as little as this wholly or not at all. If not, nothing but the rest
        // may follow: the reader has to come again.
        if count > 0 { shutdown(descriptor, Int32(SHUT_RDWR)) }
        return false
    }
}

extension [Delivery] {
    /// All lines as one chunk of a body (RFC 9112, section 7.1).
    var chunk: [UInt8] {
        let length = reduce(0) { $0 + $1.line.count }
        var chunk = Array<UInt8>()
        chunk.reserveCapacity(length + 16)
        chunk += String(length, radix: 16).utf8
        chunk += "\r\n".utf8
        for delivery in self { chunk += delivery.line }
        chunk += "\r\n".utf8
        return chunk
    }
}
