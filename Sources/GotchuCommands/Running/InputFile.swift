import Glibc
import ServiceProcess

/// A file given on the command line, or standard input.
struct InputFile {
    /// The path; `nil` for standard input.
    let path: String?

    /// The file's name for a sentence.
    var name: String { path?.printable ?? "standard input" }

    /// Reads the whole file. If it is longer than `limit` bytes, stops at most 4096 bytes after
    /// them.
    func read(limit: Int) throws(CommandFailure) -> [UInt8] {
        guard let path else { return try readAll(STDIN_FILENO, limit) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        let code = errno
        guard descriptor >= 0 else { throw unreadable(code) }
        defer { close(descriptor) }
        return try readAll(descriptor, limit)
    }

    private func readAll(_ descriptor: CInt, _ limit: Int) throws(CommandFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= limit {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            let code = errno
            if count == 0 { break }
            if count > 0 {
                bytes += chunk[..<count]
            } else if code != EINTR {
                throw unreadable(code)
            }
        }
        return bytes
    }

    private func unreadable(_ code: CInt) -> CommandFailure {
        .inputOutput(
            "\(name) cannot be read: \(String(cString: strerror(code))).",
            next: "ls -l \((path ?? "/dev/stdin").shellQuoted)"
        )
    }
}
