import Glibc
import ServiceProcess

/// The file of a recording: newly created, readable by its owner only, limited in size.
struct RecordingFile: ~Copyable {
    /// The largest file that a replay reads, in bytes.
    static let limit = 64 << 20

    private let descriptor: Int32
    private let path: String
    private(set) var byteCount = 0

    /// Creates the file. If the path exists, throws and leaves it unchanged.
    init(path: String) throws(CommandFailure) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let opened = open(path, flags, 0o600)
        let number = errno
        guard opened >= 0 || number != EEXIST else {
            throw .inputOutput(
                "\(path.printable) is there already, and is not written over.",
                next: "gotchu-ctl record ANOTHER-FILE"
            )
        }
        guard opened >= 0 else { throw Self.failure(path, number) }
        descriptor = opened
        self.path = path
    }

    deinit { close(descriptor) }

    /// Writes one line.
    ///
    /// - Returns: `false` if there is no room for it.
    mutating func write(_ line: [UInt8]) throws(CommandFailure) -> Bool {
        let bytes = line + [UInt8(ascii: "\n")]
        guard byteCount + bytes.count <= Self.limit else { return false }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            let number = errno
            if count < 0, number == EINTR { continue }
            guard count > 0 else {
                // Removes the partial line, which could not be replayed.
                ftruncate(descriptor, byteCount)
                throw Self.failure(path, number)
            }
            written += count
        }
        byteCount += bytes.count
        return true
    }

    func sync() throws(CommandFailure) {
        guard fsync(descriptor) == 0 else { throw Self.failure(path, errno) }
    }

    private static func failure(_ path: String, _ number: Int32) -> CommandFailure {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        return .inputOutput(
            "\(path.printable) cannot be written: \(String(cString: strerror(number))).",
            next: "\(number == ENOSPC ? "df -h" : "ls -ld") \(folder.shellQuoted)"
        )
    }
}
