import Foundation

/// A server program that ends with the test process, even if the test process is killed. A shell
/// waits for the end of a pipe that only the test process holds open. The shell then ends the
/// program and removes the program's files.
final class Supervisor: @unchecked Sendable {  // SAFETY: both members are set once and thread-safe.
    /// A script for bash. In dash, `wait` depends on a signal that Foundation may have blocked, so
    /// `wait` could wait for ever.
    private static let script = """
        folder=$1
        shift
        exec 3<&0
        "$@" </dev/null 3<&- &
        server=$!
        ( read -r _ <&3; : >"$folder/ended"; kill -QUIT $server; kill -CONT $server ) 2>/dev/null &
        watcher=$!
        exec 3<&-
        wait $server
        code=$?
        if test -e "$folder/ended"; then rm -rf "$folder"; else kill -KILL $watcher; fi
        exit $code
        """

    private let process = Process()
    private let pipe = Pipe()

    init(_ command: [String], folder: String, log: String) throws {
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", Self.script, "bash", folder] + command
        // No other program of the tests may hold the pipe open.
        _ = fcntl(pipe.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        process.standardInput = pipe
        if !FileManager.default.fileExists(atPath: log) {
            try Data().write(to: URL(fileURLWithPath: log))
        }
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        try output.seekToEnd()
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    deinit {
        try? pipe.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Waits until the program has ended.
    func waitForEnd() { process.waitUntilExit() }

    var isRunning: Bool { process.isRunning }
}
