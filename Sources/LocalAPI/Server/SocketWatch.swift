import Glibc
import Synchronization

/// The file of a bound socket. Notices that it was removed or replaced, by a program that cleans up
/// or by another server: clients can then no longer connect.
///
/// When NIO closes a socket, it removes the file of the name to which the socket was bound, even if
/// that is another server's socket by then. The socket is therefore bound to a name beside its path
/// and moved to the path afterwards. At the end, the file is removed only if it is still the same.
package final class SocketWatch: Sendable {
    /// The error of a server whose socket file is gone.
    package struct Lost: Error, Sendable {
        package let path: String
    }

    private struct File: Equatable {
        let device: dev_t
        let inode: ino_t
    }

    /// The name to which the socket is bound.
    let boundPath: String
    private let path: String
    /// The file that was bound; `nil` before that and after the end. It may be gone already when it
    /// is recorded.
    private let bound = Mutex<File??>(nil)

    init(path: String) {
        self.path = path
        boundPath = path + "~"
    }

    /// Moves the socket that was just bound to its path, and records its file.
    ///
    /// - Returns: False if it cannot be moved. The next check then throws.
    func begin() -> Bool {
        let own = Self.file(at: boundPath)
        let isMoved = rename(boundPath, path) == 0
        bound.withLock { $0 = .some(isMoved ? own : nil) }
        return isMoved
    }

    /// Removes the file if it is still the bound socket. Later checks do not throw.
    func end() {
        bound.withLock { recorded in
            if case .some(let own?) = recorded, own == Self.file(at: path) { unlink(path) }
            recorded = nil
        }
    }

    /// Throws if another file, or none, is at the path.
    func check() throws(Lost) {
        guard let recorded = bound.withLock(\.self) else { return }
        guard let recorded, recorded == Self.file(at: path) else { throw Lost(path: path) }
    }

    private static func file(at path: String) -> File? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return File(device: status.st_dev, inode: status.st_ino)
    }
}
