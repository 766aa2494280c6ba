package import Foundation
import Synchronization

/// A running program of this build or of the system. It is killed when this object is released.
package final class Program: Sendable {
    private let process: Mutex<Process>
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
    /// standard output and standard error.
    package init(
        _ name: String,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws {
        let process = Process()
        process.executableURL =
            name.hasPrefix("/")
            ? URL(fileURLWithPath: name) : Self.folder.appendingPathComponent(name)
        process.arguments = arguments
        var all = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("GOTCHU_") }
        all.merge(environment) { _, new in new }
        process.environment = all
        process.standardInput = FileHandle.nullDevice
        let logName = "gotchu-\(UUID().uuidString).log"
        output = FileManager.default.temporaryDirectory.appendingPathComponent(logName)
        try Data().write(to: output)
        let handle = try FileHandle(forWritingTo: output)
        process.standardOutput = handle
        process.standardError = handle
        self.process = Mutex(process)
        // Foundation does not close the handle. With far more than a thousand open descriptors, its
        // start of a program reads past the end of its list of descriptors.
        defer { try? handle.close() }
        try process.run()
    }

    deinit {
        process.withLock { process in
            guard process.isRunning else { return }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
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

    package var isRunning: Bool { process.withLock(\.isRunning) }

    package var processID: Int32 { process.withLock(\.processIdentifier) }

    /// The program's output so far.
    package var text: String {
        (try? Data(contentsOf: output)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Sends a signal. For SIGSTOP, waits until all threads have stopped: on a busy machine, some
    /// threads run on for a while.
    package func signal(_ signal: Int32) {
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
        try await eventually("the program ends; its output: \(text)", within: limit) {
            process.withLock { process -> Int32? in
                guard !process.isRunning else { return nil }
                let status = process.terminationStatus
                return process.terminationReason == .uncaughtSignal ? 128 + status : status
            }
        }
    }
}
