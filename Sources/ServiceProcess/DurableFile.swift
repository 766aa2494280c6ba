package import Glibc

/// A small file that is replaced as a whole. All calls block.
package enum DurableFile {
    /// A failure to replace a file. The old file is still there, or both are.
    package struct Failure: Error, Equatable {
        package let operation: String
        package let reason: String
    }

    /// Replaces a file through a new one beside it: the old contents stay until the new ones are
    /// on the disk, and those survive a power cut once this returns.
    ///
    /// - Parameters:
    ///   - path: Absolute; in a folder where no other user may write.
    ///   - old: A file whose owner and mode the new file gets; `nil` for one that is accessible to
    ///     its owner alone.
    package static func replace(
        _ path: String,
        with bytes: [UInt8],
        like old: stat? = nil
    ) throws(Failure) {
        let new = path + ".new"
        // A file left by a crash, or put there by another user, would keep its owner and its mode.
        unlink(new)
        let descriptor = try call("open") {
            open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        }
        do throws(Failure) {
            defer { close(descriptor) }
            if let old {
                try call("chown") { fchown(descriptor, old.st_uid, old.st_gid) }
                try call("chmod") { fchmod(descriptor, old.st_mode & 0o7777) }
            }
            var written = 0
            while written < bytes.count {
                written += try call("write") {
                    bytes[written...].withUnsafeBytes {
                        write(descriptor, $0.baseAddress, $0.count)
                    }
                }
            }
            try call("sync") { fsync(descriptor) }
            try call("rename") { rename(new, path) }
        } catch {
            unlink(new)
            throw error
        }
        try syncFolder(of: path)
    }

    /// Syncs the folder of a file, so that the names in it are durable.
    package static func syncFolder(of path: String) throws(Failure) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let descriptor = try call("open \(folder)") {
            open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        defer { close(descriptor) }
        try call("sync \(folder)") { fsync(descriptor) }
    }

    /// Makes a call of the system, again while signals interrupt it.
    @discardableResult
    package static func call<Result: BinaryInteger>(
        _ operation: String,
        _ body: () -> Result
    ) throws(Failure) -> Result {
        while true {
            let result = body()
            let code = errno
            if result >= 0 { return result }
            if code == EINTR { continue }
            throw Failure(operation: operation, reason: String(cString: strerror(code)))
        }
    }
}
