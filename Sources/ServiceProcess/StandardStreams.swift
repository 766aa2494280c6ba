import CLinux
import Glibc

/// Safeguards of the three standard streams.
package enum StandardStreams {
    /// Opens closed streams to /dev/null, and makes the process end with 74 if its standard output
    /// could not be written completely. Must be called before anything else.
    package static func guardAll() {
        occupyClosed()
        let isGuarded = atexit {
            // The argument parser prints through stdio.
            let code = Console.outputFailure ?? clinux_flush_output()
            if code != 0 { StandardStreams.end(unwritable: code) }
        }
        precondition(isGuarded == 0, "there is room for one function")
    }

    /// Opens closed streams to /dev/null, the wrong way round, so that reads and writes fail.
    ///
    /// Otherwise the next file or socket would take the number, and receive text meant for a
    /// person.
    private static func occupyClosed() {
        for descriptor in STDIN_FILENO...STDERR_FILENO
        where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest free number is this one.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Ends the process because its standard output could not be written, with a message.
    ///
    /// - Parameter code: The errno.
    package static func end(unwritable code: CInt) -> Never {
        if code == EPIPE {
            // SwiftNIO ignores SIGPIPE in the whole process: its effect is restored here.
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        }
        let program = CommandLine.arguments.first?.split(separator: "/").last ?? "gotchu"
        let reason = String(cString: strerror(code))
        Console.error("\(program): The standard output cannot be written: \(reason).\n→ df -h")
        // Not exit(3), which may be the caller.
        _exit(ExitStatus.inputOutput.rawValue)
    }
}
