import Foundation
import TestSupport

/// Something on a Unix socket that is not gotchud: it answers the first request with fixed bytes.
final class CannedPeer: Sendable {
    let folder: TemporaryFolder
    var socket: String { "\(folder.path)/peer.sock" }
    private let descriptor: Int32

    /// - Parameter reply: the bytes; `nil` never answers.
    init(_ reply: String?) throws {
        folder = try TemporaryFolder()
        descriptor = Self.listen(at: "\(folder.path)/peer.sock")
        let listener = descriptor
        Thread.detachNewThread {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            var bytes = [UInt8](repeating: 0, count: 4096)
            _ = read(connection, &bytes, bytes.count)
            if let reply {
                _ = reply.withCString { write(connection, $0, strlen($0)) }
                close(connection)
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// A socket at that path that listens.
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

    /// A whole reply with a status, our headers and a body.
    static func reply(_ status: String, api: String? = "1", body: String) -> String {
        let version = api.map { "Gotchu-API: \($0)\r\n" } ?? ""
        return "HTTP/1.1 \(status)\r\n\(version)Gotchu-Version: 9.9.9\r\n"
            + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }
}
