import Foundation

/// A TCP proxy on loopback that delays what a server sends, as a slow mobile network does.
package final class SlowProxy: Sendable {
    package let port: UInt16
    private let listener: Int32
    private let target: UInt16
    private let delay: Duration

    /// - Parameters:
    ///   - target: The server's port on loopback.
    ///   - delay: The delay of each part of an answer.
    package init(before target: UInt16, delay: Duration) throws {
        self.target = target
        self.delay = delay
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var port: UInt16 = 0
        let isListening = Self.withAddress(of: 0) { address, size in
            bind(listener, address, size.pointee) == 0 && listen(listener, 64) == 0
                && getsockname(listener, address, size) == 0
        } then: {
            port = $0
        }
        guard isListening else { throw NeverHappened(description: "a port is free on loopback") }
        self.listener = listener
        self.port = port
        Thread.detachNewThread { [self] in serve() }
    }

    package func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func serve() {
        defer { close(listener) }
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { return }
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            let isConnected = Self.withAddress(of: target) { address, size in
                connect(server, address, size.pointee) == 0
            }
            guard isConnected else {
                close(client)
                close(server)
                continue
            }
            Thread.detachNewThread { [self] in
                Thread.detachNewThread { Self.forward(client, to: server, after: .zero) }
                Self.forward(server, to: client, after: delay)
            }
        }
    }

    /// Forwards until one side ends. Then both end.
    private static func forward(_ source: Int32, to target: Int32, after delay: Duration) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            // SAFETY: the delay is what this proxy is for.
            Thread.sleep(forTimeInterval: delay / .seconds(1))
            guard count > 0, send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count else {
                break
            }
        }
        // The descriptors stay open until the test process ends: the other thread may use them.
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
    }

    /// Calls `body` with a loopback address, and `then` with the port that the address has
    /// after it.
    private static func withAddress(
        of port: UInt16,
        _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Bool,
        then: (UInt16) -> Void = { _ in }
    ) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isDone = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &size) }
        }
        then(UInt16(bigEndian: address.sin_port))
        return isDone
    }
}
