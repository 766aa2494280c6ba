package import Foundation
import Synchronization

/// One of the programs of this build, running. Ended with the test at the latest.
package final class Program: Sendable {
    private let process: Mutex<Process>
    /// What it says goes to a file: a pipe's end would be inherited by programs started meanwhile,
    /// and its own end never seen.
    private let output: URL

    /// The folder of the binaries that were built with these tests.
    package static var folder: URL {
        // The test runner itself lies beside them.
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent()
    }

    /// Starts `name` with arguments; standard output and error go to `text`.
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
        // Foundation never closes it by itself, and with well over a thousand descriptors open its
        // own start of a program reads past the end of their list.
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

    /// Keeps everybody else from writing to a ledger on SQLite, until it is ended: it can be read.
    package static func locking(_ ledger: String) async throws -> Program {
        let script = """
            import sqlite3, sys, time
            ledger = sqlite3.connect(sys.argv[1], isolation_level=None)
            ledger.execute("BEGIN IMMEDIATE")
            print("locked", flush=True)
            time.sleep(600)
            """
        let program = try Program("/usr/bin/python3", ["-c", script, ledger])
        return try await eventually("the ledger is locked; it said: \(program.text)") {
            program.text.contains("locked\n") ? program : nil
        }
    }

    package var isRunning: Bool { process.withLock(\.isRunning) }

    package var processID: Int32 { process.withLock(\.processIdentifier) }

    /// Everything it has said so far.
    package var text: String {
        (try? Data(contentsOf: output)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Sends a signal. After SIGSTOP it stands still when this returns: that of its threads which
    /// takes the signal stops the others, and on a busy machine they work on until then.
    package func signal(_ signal: Int32) {
        kill(processID, signal)
        guard signal == SIGSTOP else { return }
        // SAFETY: until the kernel has done it, which takes as long as the machine is busy.
        while isRunning, !isStopped { usleep(1000) }
    }

    /// Whether each of its threads is stopped (proc(5)).
    private var isStopped: Bool {
        let tasks = "/proc/\(processID)/task"
        let threads = try? FileManager.default.contentsOfDirectory(atPath: tasks)
        return (threads ?? []).allSatisfy { thread in
            let stat = try? String(contentsOfFile: "\(tasks)/\(thread)/stat", encoding: .utf8)
            // The name before the state stands in parentheses, and may hold some itself.
            let state = stat?.split(separator: ")").last?.dropFirst().first
            return state == nil || state == "T"
        }
    }

    /// Whether it has a handler for this signal (proc(5)): before that the signal just ends it.
    package func handles(_ signal: Int32) -> Bool {
        let status = try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        let caught = status?.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }?
            .split(separator: "\t").last
        let mask = caught.flatMap { UInt64($0, radix: 16) } ?? 0
        return mask & 1 << UInt64(signal - 1) != 0
    }

    /// Waits for its end.
    ///
    /// - Returns: Its exit code, or 128 plus the signal that ended it.
    @discardableResult
    package func exitCode(within limit: Duration = .seconds(60)) async throws -> Int32 {
        try await eventually("the program ends; it said: \(text)", within: limit) {
            process.withLock { process -> Int32? in
                guard !process.isRunning else { return nil }
                let status = process.terminationStatus
                return process.terminationReason == .uncaughtSignal ? 128 + status : status
            }
        }
    }
}
