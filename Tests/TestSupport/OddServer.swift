import Foundation
import Synchronization

/// A TCP server on loopback that reads a request and answers with given bytes.
package final class OddServer: Sendable {
    package let port: UInt16
    private let listener: Int32
    private let reply = Mutex<[UInt8]>([])

    /// The size of the buffer for a request. Bytes that were not read would reset the connection
    /// when it is closed.
    private static let requestLimit = 64 * 1024

    package init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, $0, &size) == 0
            }
        }
        guard isListening else { throw NeverHappened(description: "a port is free on loopback") }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in serve() }
    }

    /// Sets the answer to all later requests.
    package func answer(_ bytes: [UInt8]) { reply.withLock { $0 = bytes } }

    /// Stops the server: no further connection is accepted.
    package func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func serve() {
        defer { close(listener) }
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            Thread.detachNewThread { [self] in
                converse(on: connection)
                close(connection)
            }
        }
    }

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
