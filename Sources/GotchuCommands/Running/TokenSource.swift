import Glibc
import ServiceProcess

/// The source of a token: a file, a pipe, or hidden input. Never an argument.
struct TokenSource {
    /// The longest token, in bytes: tokens have a few hundred, and a longer file is something else.
    static let limit = 16 * 1024

    /// The path; `nil` for standard input.
    let file: String?

    func read(_ output: Output) throws -> String {
        let bytes: [UInt8]
        if let file {
            let descriptor = open(file, O_RDONLY | O_CLOEXEC)
            let code = errno
            guard descriptor >= 0 else { throw unreadable(code) }
            defer { close(descriptor) }
            bytes = try readAll(descriptor)
        } else if isatty(STDIN_FILENO) == 1 {
            output.talk("Token (not shown): ", terminator: "")
            defer { output.talk("") }
            bytes = HiddenInput.readLine(limit: Self.limit)
        } else {
            bytes = try readAll(STDIN_FILENO)
        }
        let token = bytes.split { $0 <= UInt8(ascii: " ") }
        guard bytes.count <= Self.limit, token.count == 1, let word = token.first,
            word.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw CommandFailure.badData(
                token.isEmpty
                    ? "There is no token in \(name)." : "What is in \(name) is not a token.",
                next: "gotchu-ctl login --help"
            )
        }
        return String(decoding: word, as: UTF8.self)
    }

    private var name: String { file?.printable ?? "standard input" }

    private func readAll(_ descriptor: CInt) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= Self.limit {
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
            next: "ls -l \((file ?? "/dev/stdin").shellQuoted)"
        )
    }
}
