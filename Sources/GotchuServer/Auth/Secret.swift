internal import Glibc
internal import ServiceProcess

/// The 32-byte random key that signs this server's tokens. With SQLite it is stored in a file
/// beside the database. Only the file's owner can read it, and backups do not contain it. With
/// PostgreSQL it is stored in the database, because all servers of a database share it.
struct Secret: Sendable {
    static let length = 32

    let bytes: [UInt8]
    /// A Boolean that is true if this process has just made the secret.
    var isNew = false

    static func random() -> Secret {
        Secret(bytes: .random(length))
    }

    /// Reads the secret of an SQLite database; makes one if there is none.
    ///
    /// A development server uses a separate secret. Anyone can get its tokens, and they must not be
    /// valid if the same database is later served in production.
    static func loadOrCreate(
        forDatabase path: String,
        isDevelopment: Bool
    ) throws(ServerFailure) -> Secret {
        let file = path + (isDevelopment ? ".dev-secret" : ".secret")
        if let secret = try read(file) { return secret }
        return try make(file)
    }

    private static func read(_ file: String) throws(ServerFailure) -> Secret? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else {
            throw .secret(file, "It cannot be opened: \(String(cString: strerror(errno))).")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & 0o077 == 0 else {
            throw .secret(file, "Others than its owner may read it.")
        }
        var bytes = [UInt8](repeating: 0, count: length + 1)
        let count = bytes.withUnsafeMutableBytes {
            Glibc.read(descriptor, $0.baseAddress, $0.count)
        }
        guard count == length else { throw .secret(file, "It does not hold 32 bytes.") }
        return Secret(bytes: Array(bytes.prefix(length)))
    }

    /// Creates the file, or reads the file that another server created at the same time. The secret
    /// is written under a temporary name and then linked. Thus a crash leaves no partial file, and
    /// a second server reads no partial secret.
    private static func make(_ file: String) throws(ServerFailure) -> Secret {
        let bytes = random().bytes
        let draft = "\(file).\(UInt64.random(in: .min ... .max))"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw .secret(file, "It cannot be made: \(reason).", fix: folderFix)
        }
        let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        let isWritten = count == length && fsync(descriptor) == 0
        close(descriptor)
        let isInPlace = isWritten && link(draft, file) == 0
        let isTaken = isWritten && !isInPlace && errno == EEXIST
        unlink(draft)
        if isTaken, let other = try read(file) { return other }
        guard isInPlace else { throw .secret(file, "It cannot be written.", fix: folderFix) }
        return Secret(bytes: bytes, isNew: true)
    }

    private static let folderFix =
        "Let the server's user write to its folder, and see that the disk has room."
}

extension ServerFailure {
    fileprivate static func secret(
        _ file: String,
        _ what: String,
        fix: String = "It must be a file of the server's user that nobody else may read "
            + "(chmod 600). If others may have read it, or it is damaged, remove it: "
            + "a new one is made, and everybody has to log in again."
    ) -> ServerFailure {
        ServerFailure(.inputOutput, "The secret \(file) cannot be used. \(what)", fix: fix)
    }
}
