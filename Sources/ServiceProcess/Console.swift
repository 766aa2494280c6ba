import Glibc
import Synchronization

/// The program's own standard output and standard error. Both are written at once, without
/// buffering.
package enum Console {
    /// The errno of the first failed write to standard output. `StandardStreams` reports it at the
    /// end.
    static var outputFailure: CInt? { failure.withLock(\.self) }
    private static let failure = Mutex<CInt?>(nil)

    package static func output(_ line: String) {
        guard let code = write(line, to: STDOUT_FILENO) else { return }
        failure.withLock { $0 = $0 ?? code }
    }

    package static func error(_ line: String) {
        // A failure is ignored: there is no other stream to report it on.
        _ = write(line, to: STDERR_FILENO)
    }

    /// - Returns: The errno of a failed write; `nil` if everything was written.
    private static func write(_ line: String, to descriptor: Int32) -> CInt? {
        var bytes = Array((line + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            let code = errno
            if count >= 0 {
                bytes.removeFirst(count)
            } else if code != EINTR {
                return code
            }
        }
        return nil
    }
}
