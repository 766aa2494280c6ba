import Foundation

/// A TCP proxy on loopback that delays what a server sends, as a slow mobile network does.
package final class SlowProxy: Sendable {
    package var port: UInt16 { listener.port }
    private let listener: LoopbackListener

    /// - Parameters:
    ///   - target: The server's port on loopback.
    ///   - delay: The delay of each part of an answer.
    package init(before target: UInt16, delay: Duration) throws {
        listener = try LoopbackListener()
        listener.start { client in
            guard let server = LoopbackListener.connection(to: target) else {
                close(client)
                return
            }
            Thread.detachNewThread { Self.forward(client, to: server, after: .zero) }
            Self.forward(server, to: client, after: delay)
        }
    }

    package func stop() { listener.stop() }

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
}
