package import Foundation
import Synchronization

/// A running program of this build or of the system. It is killed when this object is released.
///
/// The process is started and awaited without Foundation's `Process`, which learns of an end from a
/// descriptor that other programs may inherit or close, and then waits for ever.
package final class Program: Sendable {
    package let processID: Int32
    /// The status that waitpid(2) has reported, once the program has ended.
    private let status = Mutex<Int32?>(nil)
    /// The file with the program's output. A pipe would not do: other programs that start at the
    /// same time would inherit it, and its end would not be seen.
    private let output: URL

    /// The folder of the binaries that were built with these tests.
    package static var folder: URL {
        // The test runner is in the same folder.
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent()
    }

    /// Starts the program `name`, without the variables `GOTCHU_…` of this process. `text` has its
    /// standard output and standard error. All signals have their default actions, and the program
    /// leads a process group of its own.
    package init(
        _ name: String,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws {
        let path = name.hasPrefix("/") ? name : Self.folder.appendingPathComponent(name).path
        var all = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("GOTCHU_") }
        all.merge(environment) { _, new in new }
        let logName = "gotchu-\(UUID().uuidString).log"
        output = FileManager.default.temporaryDirectory.appendingPathComponent(logName)
        processID = try Self.spawn(
            path,
            [path] + arguments,
            environment: all.map { "\($0.key)=\($0.value)" },
            output: output.path
        )
    }

    /// Starts a process whose other descriptors are closed.
    private static func spawn(
        _ path: String,
        _ arguments: [String],
        environment: [String],
        output: String
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, flags, 0o600)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        closeOtherDescriptors(&actions)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let changes = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(changes))

        let words = arguments.map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        defer { for text in words + variables { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, path, &actions, &attributes, words, variables)
        guard code == 0 else { throw POSIXError(.init(rawValue: code) ?? .ENOENT) }
        return pid
    }

    deinit {
        if isRunning {
            kill(processID, SIGKILL)
            waitpid(processID, nil, 0)
        }
        try? FileManager.default.removeItem(at: output)
    }

    /// Starts a program that blocks all writes to a SQLite ledger until its end, but no reads.
    package static func locking(_ ledger: String) async throws -> Program {
        let script = """
            import sqlite3, sys, time
            ledger = sqlite3.connect(sys.argv[1], isolation_level=None)
            ledger.execute("BEGIN IMMEDIATE")
            print("locked", flush=True)
            time.sleep(600)
            """
        let program = try Program("/usr/bin/python3", ["-c", script, ledger])
        return try await eventually("the ledger is locked; its output: \(program.text)") {
            program.text.contains("locked\n") ? program : nil
        }
    }

    package var isRunning: Bool { endStatus == nil }

    /// The status of the ended program (waitpid(2)); `nil` while it runs.
    private var endStatus: Int32? {
        status.withLock { known in
            var found: Int32 = 0
            if known == nil, waitpid(processID, &found, WNOHANG) == processID { known = found }
            return known
        }
    }

    /// The program's output so far.
    package var text: String {
        (try? Data(contentsOf: output)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Sends a signal. For SIGSTOP, waits until all threads have stopped: on a busy machine, some
    /// threads run on for a while.
    package func signal(_ signal: Int32) {
        // The id of a program that has ended may be another's by now.
        guard isRunning else { return }
        kill(processID, signal)
        guard signal == SIGSTOP else { return }
        // SAFETY: a pause between two looks at the threads, which the kernel stops.
        while isRunning, !isStopped { usleep(1000) }
    }

    /// A Boolean that is true if all threads of the program are stopped (proc(5)).
    private var isStopped: Bool {
        let tasks = "/proc/\(processID)/task"
        let threads = try? FileManager.default.contentsOfDirectory(atPath: tasks)
        return (threads ?? []).allSatisfy { thread in
            let stat = try? String(contentsOfFile: "\(tasks)/\(thread)/stat", encoding: .utf8)
            // The state follows the thread's name, which is in parentheses and may contain some.
            let state = stat?.split(separator: ")").last?.dropFirst().first
            return state == nil || state == "T"
        }
    }

    /// Returns true if the program has a handler for a signal (proc(5)). Without a handler, the
    /// signal ends the program.
    package func handles(_ signal: Int32) -> Bool {
        let status = try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        let caught = status?.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }?
            .split(separator: "\t").last
        let mask = caught.flatMap { UInt64($0, radix: 16) } ?? 0
        return mask & 1 << UInt64(signal - 1) != 0
    }

    /// Waits for the program's end.
    ///
    /// - Returns: The program's exit code, or 128 plus the number of the signal that ended it.
    @discardableResult
    package func exitCode(within limit: Duration = .seconds(60)) async throws -> Int32 {
        let status = try await eventually(
            "the program ends; its output: \(text)",
            within: limit
        ) { endStatus }
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }
}

/// Makes a process that is started with these actions close all descriptors of this process but the
/// first three.
package func closeOtherDescriptors(_ actions: inout posix_spawn_file_actions_t) {
    let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    // The descriptor of the folder itself is closed by now, which spawning ignores.
    for descriptor in (open ?? []).compactMap({ Int32($0) }) where descriptor > STDERR_FILENO {
        posix_spawn_file_actions_addclose(&actions, descriptor)
    }
}
