import FoundationEssentials
import Glibc

/// The folder of the journal and the token. A user who can write to it could read the next token or
/// change the journal.
enum StateFolder {
    /// The reason why the folder is not safe: another user can change its contents.
    enum Failure: Error, Equatable {
        /// The folder belongs to another user.
        case foreign(path: String, userID: UInt32)
        /// The folder's group or all users may write to it.
        case writable(path: String)
    }

    /// Creates the folder if it is missing. Throws if another user except root owns it, or if
    /// others may write to it.
    static func prepare(_ path: String) throws(Failure) {
        // If the creation fails, the opening of the journal reports the reason.
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
