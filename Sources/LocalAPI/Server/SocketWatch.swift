import Glibc
import Synchronization

/// Notices that the file of a bound socket was removed or replaced, by a program that cleans up or
/// by another server. Clients can then no longer connect.
package final class SocketWatch: Sendable {
    /// The error of a server whose socket file is gone.
    package struct Lost: Error, Sendable {
        package let path: String
    }

    private struct File: Equatable {
        let device: dev_t
        let inode: ino_t
    }

    private let path: String
    /// The file that was bound; `nil` before that. It may be gone already when it is recorded.
    private let bound = Mutex<File??>(nil)

    init(path: String) {
        self.path = path
    }

    /// Records the file of the socket that was just bound.
    func begin() { bound.withLock { $0 = .some(file) } }

    /// Throws if another file, or none, is at the path.
    func check() throws(Lost) {
        guard let recorded = bound.withLock(\.self) else { return }
        guard let recorded, recorded == file else { throw Lost(path: path) }
    }

    private var file: File? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return File(device: status.st_dev, inode: status.st_ino)
    }
}
