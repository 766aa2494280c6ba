import CLinux
import Glibc

/// Safeguards for the three standard streams.
package enum StandardStreams {
    /// Opens closed streams to /dev/null. If the standard output could not be written completely,
    /// makes the process end with exit status 74. Must be called before anything else.
    package static func guardAll() {
        occupyClosed()
        let isGuarded = atexit {
            // The argument parser prints through stdio, so its buffer is flushed here.
            let code = Console.outputFailure ?? clinux_flush_output()
            if code != 0 { StandardStreams.end(unwritable: code) }
        }
        precondition(isGuarded == 0, "there is room for one function")
    }

    /// Opens closed streams to /dev/null in the opposite direction: reads and writes then fail.
    ///
    /// Otherwise the next opened file or socket would get the stream's number, and text for the
    /// user would be written to it.
    private static func occupyClosed() {
        for descriptor in STDIN_FILENO...STDERR_FILENO
        where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest free number is the number of this stream.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Ends the process with a message, because its standard output could not be written.
    ///
    /// - Parameter code: The errno of the failed write. After EPIPE, SIGPIPE ends the process
    ///   without a message.
    package static func end(unwritable code: CInt) -> Never {
        if code == EPIPE {
            // SwiftNIO ignores SIGPIPE in the whole process. The default action is restored here.
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        }
        let program = CommandLine.arguments.first?.split(separator: "/").last ?? "gotchu"
        let reason = String(cString: strerror(code))
        Console.error("\(program): The standard output cannot be written: \(reason).\n→ df -h")
        // exit(3) is not used: it may be the caller of this function.
        _exit(ExitStatus.inputOutput.rawValue)
    }
}
