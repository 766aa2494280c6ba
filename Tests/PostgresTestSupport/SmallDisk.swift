import Foundation
import TestSupport

/// A file system of a few megabytes in memory, which can become full. It is mounted only in a
/// namespace of its own, which other processes can enter. It disappears with the last of these
/// processes.
package final class SmallDisk: Sendable {
    private static let script = """
        mount -t tmpfs -o mode=777,size="$2"m none "$1" && echo mounted && read -r _
        """

    /// The path for processes in the namespace.
    package let path: String
    private let keeper: Int32
    private let input = Pipe()

    package init(at path: String, megabytes: Int) throws {
        self.path = path
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false
        )
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = [
            "--mount", "/bin/sh", "-c", Self.script, "sh", path, "\(megabytes)",
        ]
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        keeper = process.processIdentifier
        guard !output.fileHandleForReading.availableData.isEmpty else {
            throw NeverHappened(description: "a small disk is mounted")
        }
    }

    deinit {
        try? input.fileHandleForWriting.close()
    }

    /// The first words of a command that must see the disk.
    var enterCommand: [String] { ["/usr/bin/nsenter", "--mount=/proc/\(keeper)/ns/mnt"] }

    private var fillerFile: String { "/proc/\(keeper)/root\(path)/filler" }

    /// Fills the disk completely.
    package func fill() {
        let file = open(fillerFile, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        let bytes = [UInt8](repeating: 0, count: 4_096)
        while write(file, bytes, bytes.count) > 0 {}
        close(file)
    }

    /// Frees the space again.
    package func free() { unlink(fillerFile) }
}
