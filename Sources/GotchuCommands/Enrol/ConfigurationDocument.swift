import FoundationEssentials
import Glibc
import GotchuAPI
import GotchuCore
import ServiceProcess

/// Edits the payment server in `gotchud.json`. Everything else stays unchanged.
struct ConfigurationDocument {
    /// The path with symbolic links resolved: the target is replaced, not the link.
    private let path: String
    private let status: stat
    private let text: String

    init(path: String) throws {
        var status = stat()
        guard let real = realpath(path, nil) else { throw Self.unreadable(path) }
        defer { free(real) }
        self.path = String(cString: real)
        guard stat(self.path, &status) == 0,
            let data = FileManager.default.contents(atPath: self.path)
        else { throw Self.unreadable(path) }
        self.status = status
        guard let text = String(data: data, encoding: .utf8) else {
            throw CommandFailure.badData(
                "\(path.printable) is not UTF-8 text.",
                next: "gotchud --check-config --config \(path.shellQuoted)"
            )
        }
        self.text = text
    }

    private static func unreadable(_ path: String) -> CommandFailure {
        .inputOutput(
            "\(path.printable) cannot be read: \(String(cString: strerror(errno))).",
            next: "ls -l \(path.shellQuoted)"
        )
    }

    func text(withServer server: String) -> String { Self.text(text, withServer: server) }

    /// Replaces the file durably, with its mode and owner.
    func replace(with text: String) throws {
        do throws(DurableFile.Failure) {
            try DurableFile.replace(path, with: Array(text.utf8), like: status)
        } catch {
            throw CommandFailure.inputOutput(
                "\(path.printable) cannot be written: \(error.operation): \(error.reason).",
                next: "ls -ld \(path.shellQuoted) && df -h"
            )
        }
    }

    /// Returns a text with another server. An invalid text stays invalid: callers have gotchud
    /// check it before they replace the file.
    static func text(_ text: String, withServer server: String) -> String {
        let value = String(decoding: CanonicalJSON.bytes(of: server), as: UTF8.self)
        // A quote inside a JSON string is escaped, so no string can contain a match.
        let member = #/"server"\s*:\s*(?:"(?:[^"\\]|\\.)*"|null)/#
        if text.contains(member) {
            return text.replacing(member, with: "\"server\": \(value)", maxReplacements: 1)
        }
        guard let brace = text.firstIndex(of: "{") else { return text }
        let rest = text[text.index(after: brace)...]
        let isEmpty = rest.first { !$0.isWhitespace } == "}"
        // Inserted on the same line, so that line numbers in gotchud's errors fit the old file too.
        return "\(text[...brace])\"server\": \(value)\(isEmpty ? "" : ",")\(rest)"
    }
}
