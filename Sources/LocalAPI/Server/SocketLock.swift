import FoundationEssentials
import Glibc

/// The right to serve a socket path: an flock(2) on a lock file beside it.
///
/// NIO's bind removes a socket file that it finds, even one that another process is serving.
/// The holder of this lock knows that no other process does.
package struct SocketLock: ~Copyable {
    private let descriptor: Int32

    /// A reason for which the lock cannot be had.
    package enum Failure: Error, Equatable, Sendable {
        /// Another process serves this path.
        case inUse
        /// Something else than a socket stands at the path; it is never removed.
        case occupied
        /// The lock file could not be opened; the errno's text.
        case unusable(String)
    }

    /// Takes the lock or fails at once.
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
        // The file stays: removing it would let two processes hold locks on two files of one name.
        close(descriptor)
    }
}
