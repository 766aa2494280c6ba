import FoundationEssentials
import Glibc

/// The folder of the journal and the token. Whoever may put files into it could read the next token
/// or write the next journal.
enum StateFolder {
    /// Somebody else decides what is in it.
    enum Failure: Error, Equatable {
        /// It belongs to another user.
        case foreign(path: String, userID: UInt32)
        /// Its group or others may write to it.
        case writable(path: String)
    }

    /// Makes the folder if it is not there, and refuses one that is not the daemon's alone.
    static func prepare(_ path: String) throws(Failure) {
        // If this fails, the journal says why.
        try? FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw .foreign(path: path, userID: status.st_uid)
        }
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else { throw .writable(path: path) }
    }
}
