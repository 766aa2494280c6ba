import Foundation
import Synchronization

/// A TCP server on loopback that reads a request and answers with given bytes.
package final class OddServer: Sendable {
    package var port: UInt16 { listener.port }
    private let listener: LoopbackListener
    private let reply = Mutex<[UInt8]>([])

    /// The size of the buffer for a request. Bytes that were not read would reset the connection
    /// when it is closed.
    private static let requestLimit = 64 * 1024

    package init() throws {
        listener = try LoopbackListener()
        listener.start { [self] connection in
            converse(on: connection)
            close(connection)
        }
    }

    /// Sets the answer to all later requests.
    package func answer(_ bytes: [UInt8]) { reply.withLock { $0 = bytes } }

    /// Stops the server: no further connection is accepted.
    package func stop() { listener.stop() }

    private func converse(on connection: Int32) {
        var limit = timeval(tv_sec: 2, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        var buffer = [UInt8](repeating: 0, count: Self.requestLimit)
        guard recv(connection, &buffer, buffer.count, 0) > 0 else { return }
        let bytes = reply.withLock { $0 }
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(
                    connection,
                    $0.baseAddress?.advanced(by: sent),
                    bytes.count - sent,
                    Int32(MSG_NOSIGNAL)
                )
            }
            guard count > 0 else { return }
            sent += count
        }
        shutdown(connection, Int32(SHUT_WR))
        while recv(connection, &buffer, buffer.count, 0) > 0 {}
    }
}
