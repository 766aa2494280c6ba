internal import Glibc
package import Ledger
internal import SQLite

extension SQLiteStore {
    /// The suffix of an incomplete copy.
    private static let draftEnding = ".gotchu-partial"

    /// Copies the books, which may be in use, into a new file, and audits the copy.
    ///
    /// The file appears under its final name only once it is complete, audited and on disk. The
    /// next backup into the same folder removes the files that a killed backup left.
    ///
    /// - Parameters:
    ///   - kinds: The same as for `Audit.run`.
    ///   - records: The same as for `Audit.run`.
    /// - Throws: If the file exists already, or the copy cannot be written.
    package static func backup(
        from path: String,
        to destination: String,
        kinds: [TransferKind],
        records: [RecordRule]
    ) throws(LedgerError) -> Audit {
        guard access(destination, F_OK) != 0 else { throw .exists }
        let folder = destination.lastIndex(of: "/").map { String(destination[...$0]) } ?? "./"
        let place = try translatingErrors(.cannotOpen) { try enter(folder) }
        defer { close(place) }
        let draft = "\(destination).\(UInt64.random(in: .min ... .max))\(draftEnding)"
        defer { for name in [draft, draft + "-wal", draft + "-shm"] { unlink(name) } }
        try translatingErrors(.cannotOpen) {
            let source = try Connection(path: path, mode: .readOnly)
            try SQLiteSchema.checkedVersion(of: source)
            try makePrivate(draft)
            let copy = try Connection(path: draft, mode: .readWrite)
            try copy.execute("PRAGMA synchronous = FULL")
            try source.backup(to: copy)
            // The copy inherits the log mode of the original; this makes it one complete file.
            try copy.execute("PRAGMA journal_mode = DELETE")
        }
        let audit = try Audit.run(path: draft, kinds: kinds, records: records)
        guard audit.isClean else { return audit }
        try translatingErrors(.cannotOpen) { try publish(draft, as: destination, in: place) }
        return audit
    }

    /// Opens a folder, and removes the remains of killed backups unless another backup is running.
    ///
    /// - Returns: The folder's descriptor. Its lock marks a backup in progress while it is open.
    private static func enter(_ folder: String) throws -> Int32 {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LedgerError.unwritable }
        // On a file system that cannot lock a folder, abandoned copies stay.
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { removeDrafts(in: folder) }
        _ = flock(descriptor, LOCK_SH)
        return descriptor
    }

    /// Removes abandoned copies, and the files that SQLite made beside them.
    private static func removeDrafts(in folder: String) {
        guard let list = opendir(folder) else { return }
        defer { closedir(list) }
        let endings = ["", "-journal", "-wal", "-shm"].map { draftEnding + $0 }
        while let entry = readdir(list) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if endings.contains(where: name.hasSuffix) { unlink(folder + name) }
        }
    }

    /// Creates a file that only this user can read, since wallets are private.
    private static func makePrivate(_ path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw LedgerError.unwritable }
        close(descriptor)
    }

    /// Publishes the copy under its final name with a link. Unlike a rename, a link never replaces
    /// a file that was created in the meantime.
    ///
    /// Syncs the folder. Otherwise a power failure could undo the new name.
    private static func publish(
        _ draft: String,
        as destination: String,
        in folder: Int32
    ) throws {
        let descriptor = open(draft, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LedgerError.unwritable }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw LedgerError.unwritable }
        guard link(draft, destination) == 0 else {
            throw errno == EEXIST ? LedgerError.exists : LedgerError.unwritable
        }
        guard fsync(folder) == 0 else { throw LedgerError.unwritable }
    }
}

extension LedgerError {
    fileprivate static var exists: LedgerError {
        LedgerError(
            .cannotOpen,
            "There is a file with that name already.",
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
