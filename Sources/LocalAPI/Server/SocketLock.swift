import FoundationEssentials
import Glibc

/// The right to serve a socket path: an flock(2) lock on a file beside it.
///
/// NIO's bind removes an existing socket file, even one that another process serves. The holder of
/// this lock knows that no other process serves it.
package struct SocketLock: ~Copyable {
    private let descriptor: Int32

    /// The reason why the lock cannot be acquired.
    package enum Failure: Error, Equatable, Sendable {
        /// Another process serves this path.
        case inUse
        /// The file at the path is not a socket; it is never removed.
        case occupied
        /// The lock file cannot be opened; the text is the errno's.
        case unusable(String)
    }

    /// Acquires the lock, or fails at once.
    package init(socketPath: String) throws(Failure) {
        let found = try? FileManager.default.attributesOfItem(atPath: socketPath)
        if let type = found?[.type] as? FileAttributeType, type != .typeSocket { throw .occupied }
        let opened = open(socketPath + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        let openError = errno
        guard opened >= 0 else { throw .unusable(String(cString: strerror(openError))) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            close(opened)
            throw .inUse
        }
        descriptor = opened
    }

    deinit {
        // The file stays: if it were removed, two processes could lock two files of the same name.
        close(descriptor)
    }
}
