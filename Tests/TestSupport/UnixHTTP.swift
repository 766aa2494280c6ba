package import Foundation

/// HTTP calls over a Unix socket without a client library. A missing answer is a result too.
package enum UnixHTTP {
    /// The longest time for an answer, in seconds.
    private static let limit = 20 * patience

    /// - Returns: `nil` if there was no complete answer.
    @concurrent
    package static func call(
        _ socketPath: String,
        _ method: String,
        _ path: String,
        _ body: Data?,
        key: String?
    ) async throws -> (status: Int, body: Data)? {
        guard let descriptor = connected(to: socketPath) else { return nil }
        defer { close(descriptor) }
        var head = "\(method) \(path) HTTP/1.1\r\nHost: gotchu\r\nConnection: close\r\n"
        if let key { head += "Idempotency-Key: \(key)\r\n" }
        if let body { head += "Content-Length: \(body.count)\r\n" }
        let request = Data((head + "\r\n").utf8) + (body ?? Data())
        let sent = request.withUnsafeBytes {
            send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard sent == request.count else { return nil }
        return parse(readAll(descriptor))
    }

    /// Sends `text` and closes the sending side.
    ///
    /// - Returns: The whole answer.
    @concurrent
    package static func exchange(_ text: String, at socketPath: String) async -> String {
        guard let descriptor = connected(to: socketPath) else { return "" }
        defer { close(descriptor) }
        _ = text.withCString { send(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
        shutdown(descriptor, Int32(SHUT_WR))
        return String(decoding: readAll(descriptor), as: UTF8.self)
    }

    /// Returns a connected stream socket, or `nil` if no program listens.
    package static func connected(to path: String) -> Int32? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var time = timeval(tv_sec: limit, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, size)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    private static func readAll(_ descriptor: Int32) -> Data {
        var all = Data()
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return all }
            all.append(contentsOf: buffer.prefix(count))
        }
    }

    private static func parse(_ reply: Data) -> (status: Int, body: Data)? {
        guard let end = reply.firstRange(of: Data("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: reply[..<end.lowerBound], as: UTF8.self)
        let lines = head.split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count >= 2, let status = Int(words[1]) else { return nil }
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.split(separator: ":")[1].trimmingCharacters(in: .whitespaces)) }
        let body = Data(reply[end.upperBound...])
        guard length == nil || length == body.count else { return nil }
        return (status, body)
    }
}
