import FoundationEssentials
import Glibc

/// The right to serve a socket path: an flock(2) lock on the file `PATH.lock`.
///
/// NIO's bind removes an existing socket file, even if another process serves it. While a process
/// holds this lock, no other process serves the path.
package struct SocketLock: ~Copyable {
    private let descriptor: Int32

    /// The reason why the lock cannot be acquired.
    package enum Failure: Error, Equatable, Sendable {
        /// Another process serves this path.
        case inUse
        /// The file at the path is not a socket. It is not removed.
        case occupied
        /// The lock file cannot be opened. The text is the system's error message.
        case unusable(String)
    }

    /// Acquires the lock. Throws at once if that is not possible.
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
        // The lock file is not removed. Otherwise two processes could lock two different files of
        // this name.
        close(descriptor)
    }
}
