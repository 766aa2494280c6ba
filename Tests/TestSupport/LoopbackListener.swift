import Foundation

/// A TCP listener at a free port of loopback. Each connection has a thread of its own.
package final class LoopbackListener: Sendable {
    package let port: UInt16
    private let descriptor: Int32

    package init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var bound = sockaddr_in()
        let isListening = Self.withAddress(of: 0) { address, size in
            var size = size
            guard bind(descriptor, address, size) == 0, listen(descriptor, 64) == 0,
                getsockname(descriptor, address, &size) == 0
            else { return false }
            bound = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee }
            return true
        }
        guard isListening else { throw NeverHappened(description: "a port is free on loopback") }
        self.descriptor = descriptor
        port = UInt16(bigEndian: bound.sin_port)
    }

    /// Accepts connections until `stop` is called.
    ///
    /// - Parameter serve: Receives a connection, and closes it.
    package func start(_ serve: @escaping @Sendable (_ connection: Int32) -> Void) {
        Thread.detachNewThread { [descriptor] in
            defer { close(descriptor) }
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread { serve(connection) }
            }
        }
    }

    package func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Connects to a port of loopback; `nil` if nobody listens there.
    package static func connection(to port: UInt16) -> Int32? {
        let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard withAddress(of: port, { connect(connection, $0, $1) == 0 }) else {
            close(connection)
            return nil
        }
        return connection
    }

    private static func withAddress(
        of port: UInt16,
        _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Bool
    ) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
