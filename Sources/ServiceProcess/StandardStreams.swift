import CLinux
import Glibc

/// The three streams that a program is started with, and what must not go wrong with them.
package enum StandardStreams {
    /// Has closed streams lead nowhere, and the process end with 74 if what it had to say on its
    /// standard output was not all written. To be called before anything else.
    package static func guardAll() {
        occupyClosed()
        let isGuarded = atexit {
            // The argument parser prints through stdio.
            let code = Console.outputFailure ?? clinux_flush_output()
            if code != 0 { StandardStreams.end(unwritable: code) }
        }
        precondition(isGuarded == 0, "there is room for one function")
    }

    /// Opens the streams that the caller has closed to where nothing can be written or read.
    ///
    /// Otherwise the next file or socket takes the number, and gets what was meant for a person.
    private static func occupyClosed() {
        for descriptor in STDIN_FILENO...STDERR_FILENO
        where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest number that is free is this one.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Ends the process because its standard output could not be written, and says so.
    ///
    /// - Parameter code: why, as errno has it.
    package static func end(unwritable code: CInt) -> Never {
        if code == EPIPE {
            // SwiftNIO ignores SIGPIPE in the whole process: what it means is made up for.
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        }
        let program = CommandLine.arguments.first?.split(separator: "/").last ?? "gotchu"
        let reason = String(cString: strerror(code))
        Console.error("\(program): The standard output cannot be written: \(reason).\n→ df -h")
        // Not exit(3): it may be what calls this.
        _exit(ExitStatus.inputOutput.rawValue)
    }
}
