internal import FoundationEssentials
internal import Glibc
internal import ServiceProcess

/// A file with one secret per line. Only the file's owner may have access to it.
enum SecretFile {
    /// The largest file, in bytes.
    private static let sizeLimit = 4_096

    /// Reads the secret of a file that must have exactly one line.
    ///
    /// - Parameter what: The secret's name for messages. Messages never contain the secret itself.
    static func line(at path: String, _ what: String) throws(ServerFailure) -> String {
        let lines = try lines(at: path, what)
        guard lines.count == 1, let line = lines.first else {
            throw failure(path, what, "It has \(lines.count) lines, and must have one.")
        }
        return line
    }

    /// Reads all lines that are not empty. A file without such a line is refused.
    static func lines(at path: String, _ what: String) throws(ServerFailure) -> [String] {
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure(path, what, "It cannot be read.") }
        guard status.st_mode & 0o077 == 0 else {
            throw failure(path, what, "Others than its owner may read it.")
        }
        guard let data = try? Data(contentsOf: URL(filePath: path)), data.count <= sizeLimit else {
            throw failure(path, what, "It cannot be read, or is too long.")
        }
        let lines = [UInt8](data).split(
            separator: UInt8(ascii: "\n"),
            omittingEmptySubsequences: false
        )
        for (index, line) in lines.enumerated()
        where !line.allSatisfy({ (0x21...0x7E).contains($0) }) {
            throw failure(
                path,
                what,
                "Line \(index + 1) has a space, a line end of Windows, or another character that "
                    + "no secret has."
            )
        }
        let secrets = lines.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
        guard !secrets.isEmpty else { throw failure(path, what, "It is empty.") }
        return secrets
    }

    /// Returns the failure for an unusable file of secrets.
    static func failure(_ path: String, _ what: String, _ problem: String) -> ServerFailure {
        ServerFailure(
            .configuration,
            "\(what) at \(path) cannot be used. \(problem)",
            fix: "Put the secret, and nothing else, into a file of this user's with mode 600."
        )
    }
}
