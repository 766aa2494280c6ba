import Glibc
import ServiceProcess

/// The source of a token: a file, a pipe or hidden input. Never a command-line argument.
struct TokenSource {
    /// The longest token, in bytes: tokens have a few hundred; a longer file is not a token.
    static let limit = 16 * 1024

    /// The path; `nil` for standard input.
    let file: String?

    func read(_ output: Output) throws -> String {
        let bytes: [UInt8]
        if let file {
            bytes = try InputFile(path: file).read(limit: Self.limit)
        } else if isatty(STDIN_FILENO) == 1 {
            output.message("Token (not shown): ", terminator: "")
            defer { output.message("") }
            bytes = HiddenInput.readLine(limit: Self.limit)
        } else {
            bytes = try InputFile(path: nil).read(limit: Self.limit)
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

    private var name: String { InputFile(path: file).name }
}
