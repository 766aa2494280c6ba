import Foundation

/// A folder for one test. It is deleted when this object is released.
///
/// Its path is short, because the path of a Unix socket in it must be short.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        let name = "g\(String(UInt32.random(in: 0...UInt32.max), radix: 36))"
        path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Writes a file in the folder, and returns the file's path.
    package func write(_ text: String, to name: String) throws -> String {
        let file = "\(path)/\(name)"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        return file
    }
}
