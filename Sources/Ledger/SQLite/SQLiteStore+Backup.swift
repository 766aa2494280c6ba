internal import Glibc
internal import SQLite

extension SQLiteStore {
    /// Copies the books, which may be in use, into a new file, and audits the copy.
    ///
    /// The file appears under its name only once it is whole, audited and on the disk.
    ///
    /// - Throws: If there is such a file already, or the copy cannot be written.
    package static func backup(
        from path: String,
        to destination: String
    ) throws(LedgerError) -> Audit {
        guard access(destination, F_OK) != 0 else { throw .exists }
        let draft = "\(destination).\(getpid()).partial"
        defer { for name in [draft, draft + "-wal", draft + "-shm"] { unlink(name) } }
        try wrapping(.cannotOpen) {
            let source = try Connection(path: path, mode: .readOnly)
            try Schema.checkedVersion(of: source)
            try makePrivate(draft)
            let copy = try Connection(path: draft, mode: .readWrite)
            try copy.execute("PRAGMA synchronous = FULL")
            try source.backup(to: copy)
            // One file that is complete in itself: the copy inherits the log mode of the original.
            try copy.execute("PRAGMA journal_mode = DELETE")
        }
        let audit = try Audit.run(path: draft)
        guard audit.isClean else { return audit }
        try wrapping(.cannotOpen) { try publish(draft, as: destination) }
        return audit
    }

    /// Wallets are nobody else's business.
    private static func makePrivate(_ path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw LedgerError.unwritable }
        close(descriptor)
    }

    /// A link, unlike a rename, never replaces a file that has appeared meanwhile.
    private static func publish(_ draft: String, as destination: String) throws {
        let descriptor = open(draft, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LedgerError.unwritable }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw LedgerError.unwritable }
        guard link(draft, destination) == 0 else {
            throw errno == EEXIST ? LedgerError.exists : LedgerError.unwritable
        }
        try syncFolder(of: destination)
    }

    /// Until its folder is on the disk, a power cut could take the new name back.
    private static func syncFolder(of path: String) throws {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LedgerError.unwritable }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw LedgerError.unwritable }
    }
}

extension LedgerError {
    fileprivate static var exists: LedgerError {
        LedgerError(
            .cannotOpen,
            "There is a file of that name already.",
            fix: "Name a new one: a backup never overwrites anything."
        )
    }

    fileprivate static var unwritable: LedgerError {
        LedgerError(
            .cannotOpen,
            "The backup cannot be written.",
            fix: "Check that the folder exists, has room, and that this user may write in it."
        )
    }
}
