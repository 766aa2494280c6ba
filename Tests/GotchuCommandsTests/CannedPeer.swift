import Foundation
import TestSupport

/// A peer on a Unix socket in place of gotchud. It answers each request with given bytes.
final class CannedPeer: Sendable {
    let folder: TemporaryFolder
    var socket: String { "\(folder.path)/peer.sock" }
    private let descriptor: Int32

    /// - Parameter reply: The answer to the first request; `nil` for no answer.
    convenience init(_ reply: String?) throws {
        try self.init([reply])
    }

    /// - Parameters:
    ///   - replies: The answer to each request, in order; `nil` for no answer.
    ///   - heard: Called for each request before its answer, with the request's number, from 0,
    ///     and the socket's path.
    init(
        _ replies: [String?],
        heard: @escaping @Sendable (Int, String) -> Void = { _, _ in }
    ) throws {
        folder = try TemporaryFolder()
        let path = "\(folder.path)/peer.sock"
        descriptor = Self.listen(at: path)
        let listener = descriptor
        Thread.detachNewThread {
            for (index, reply) in replies.enumerated() {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                var bytes = [UInt8](repeating: 0, count: 4096)
                _ = read(connection, &bytes, bytes.count)
                heard(index, path)
                if let reply {
                    _ = reply.withCString { write(connection, $0, strlen($0)) }
                    close(connection)
                }
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// Returns a listening socket at a path.
    static func listen(at path: String) -> Int32 {
        let descriptor = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        _ = Foundation.listen(descriptor, 8)
        return descriptor
    }

    /// Returns a complete reply with a status, gotchud's headers and a body.
    static func reply(_ status: String, api: String? = "1", body: String) -> String {
        let version = api.map { "Gotchu-API: \($0)\r\n" } ?? ""
        return "HTTP/1.1 \(status)\r\n\(version)Gotchu-Version: 9.9.9\r\n"
            + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }
}
