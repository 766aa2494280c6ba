import Glibc

/// What the program says on its own standard output and error, at once and without buffering.
package enum Console {
    package static func output(_ line: String) {
        write(line, to: STDOUT_FILENO)
    }

    package static func error(_ line: String) {
        write(line, to: STDERR_FILENO)
    }

    private static func write(_ line: String, to descriptor: Int32) {
        var bytes = Array((line + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            // Nobody reads any more: there is nobody to tell.
            guard count > 0 else { return }
            bytes.removeFirst(count)
        }
    }
}
