package import Glibc

/// A small file that is replaced as a whole. All calls block.
package enum DurableFile {
    /// A failed system call. After a failed `replace`, the old file is unchanged, unless the sync
    /// of the folder failed: the new file is in its place then, but a power cut can bring back the
    /// old one.
    package struct Failure: Error, Equatable {
        package let operation: String
        package let reason: String
    }

    /// Replaces a file with a new one. The old contents stay until the new contents are on disk.
    /// Once this returns, the new contents survive a power cut.
    ///
    /// - Parameters:
    ///   - path: An absolute path in a folder where no other user may write.
    ///   - old: The file whose owner and mode the new file gets. If it is `nil`, only the owner can
    ///     access the new file.
    package static func replace(
        _ path: String,
        with bytes: [UInt8],
        like old: stat? = nil
    ) throws(Failure) {
        let new = path + ".new"
        // A file or link left at this path would make `open` fail (`O_EXCL`).
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

    /// Syncs the folder of a file. The names in the folder are then durable.
    package static func syncFolder(of path: String) throws(Failure) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let descriptor = try call("open \(folder)") {
            open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        defer { close(descriptor) }
        try call("sync \(folder)") { fsync(descriptor) }
    }

    /// Makes a system call. Repeats it if a signal interrupts it.
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
