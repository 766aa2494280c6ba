import Glibc

/// A small private file that is replaced whole. All calls block.
enum DurableFile {
    /// Why a file could not be replaced; the old one is there still, or both are.
    struct Failure: Error, Equatable {
        let operation: String
        let reason: String
    }

    /// Writes beside the file first: what was there stays until the new contents are on the disk,
    /// and those survive a power cut once this returns.
    ///
    /// - Parameter path: Absolute; in a folder where nobody else may write.
    static func replace(_ path: String, with bytes: [UInt8]) throws(Failure) {
        let new = path + ".new"
        let descriptor = try call("open") {
            open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        do throws(Failure) {
            defer { close(descriptor) }
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

    /// Makes durable which files there are beside this one.
    static func syncFolder(of path: String) throws(Failure) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let descriptor = try call("open \(folder)") {
            open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        defer { close(descriptor) }
        try call("sync \(folder)") { fsync(descriptor) }
    }

    @discardableResult
    private static func call<Result: BinaryInteger>(
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
