internal import Glibc
internal import Ledger

/// Operations on files that SQLite does not do by itself.
enum DatabaseFile {
    private static let pieceSize = 1 << 20

    /// Creates a file that does not exist yet, readable only by this user, since wallets are
    /// private. SQLite gives its log the same permissions. A failure is reported when the file is
    /// opened.
    static func makePrivate(_ path: String) {
        // Only a new file: closing any descriptor of a file that is open elsewhere in this process
        // would drop SQLite's locks on it (fcntl(2)).
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    /// Takes the lock that only one server of a file can hold; it ends with the process.
    ///
    /// The descriptor stays open until then: closing it would drop SQLite's locks on the file
    /// (fcntl(2)), which are separate from this one.
    ///
    /// - Throws: `inUse` if another process holds it, `cannotOpen` if the system reports an
    ///   error. A file that cannot be created here is reported when it is opened.
    static func claim(_ path: String) throws(LedgerError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw .notClaimed(errno) }
            return
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK else { throw .notClaimed(errno) }
            throw LedgerError(
                .inUse,
                "Another gotchu-server serves these books already.",
                fix: "Stop it, or name other books with --database. Several servers can share "
                    + "those on PostgreSQL."
            )
        }
    }

    /// The identities of the files at the paths of a database and its log.
    struct Identity: Equatable {
        private let books: [UInt]
        private let log: [UInt]

        init(_ path: String) {
            books = Self.file(path)
            log = Self.file("\(path)-wal")
        }

        /// Returns the identity of a file; empty if there is none.
        private static func file(_ path: String) -> [UInt] {
            var status = stat()
            guard stat(path, &status) == 0 else { return [] }
            return [UInt(status.st_dev), UInt(status.st_ino)]
        }
    }

    /// Writes a file over itself, byte for byte, and syncs it. Then all of it is on disk, including
    /// pages that the system considers written although an earlier sync failed.
    ///
    /// - Throws: `LedgerError` if the disk rejects the write. A missing file is no error.
    static func resync(_ path: String) throws(LedgerError) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw .logLost }
            return
        }
        defer { close(descriptor) }
        var piece = [UInt8](repeating: 0, count: pieceSize)
        var position = 0
        while true {
            let count = pread(descriptor, &piece, pieceSize, position)
            guard count > 0 else {
                guard count == 0 else { throw .logLost }
                break
            }
            guard pwrite(descriptor, piece, count, position) == count else { throw .logLost }
            position += count
        }
        guard fsync(descriptor) == 0 else { throw .logLost }
    }
}

extension LedgerError {
    fileprivate static func notClaimed(_ number: Int32) -> LedgerError {
        LedgerError(
            .cannotOpen,
            "It cannot be made sure that no other server has the books: "
                + "\(String(cString: strerror(number))).",
            fix: "Keep the file on a local disk, readable by this user."
        )
    }

    fileprivate static var logLost: LedgerError {
        LedgerError(
            .cannotOpen,
            "The disk does not take the log of the books.",
            fix: "Look at the kernel's log. If the disk is failing, copy the file and its -wal to "
                + "another one before anything else."
        )
    }
}
