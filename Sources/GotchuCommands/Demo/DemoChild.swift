import Subprocess
import Synchronization
import SystemPackage

/// A child process that runs as long as the demo needs it.
final class DemoChild: Sendable {
    /// The number of log lines kept. They are shown if the demo fails.
    private static let logLimit = 12
    /// The time between SIGTERM and SIGKILL.
    private static let grace = Duration.seconds(5)
    private static let lineLimit = 64 * 1024

    let name: String
    private let path: String
    private let arguments: [String]
    private let state = Mutex(State())
    /// The output lines. If nothing reads them, the oldest are dropped.
    let lines: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    private struct State {
        var processID: Int32?
        var log: [String] = []
    }

    init(name: String, path: String, arguments: [String]) {
        self.name = name
        self.path = path
        self.arguments = arguments
        (lines, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
    }

    var processID: Int32? { state.withLock { $0.processID } }

    /// The last output lines.
    var log: [String] { state.withLock { $0.log } }

    /// Runs the child until the task is cancelled. An earlier exit is a failure.
    func run() async throws {
        defer { continuation.finish() }
        var options = PlatformOptions()
        // A process group of its own: Ctrl-C reaches only this process, which then ends its
        // children in order.
        options.processGroupID = 0
        options.teardownSequence = [
            .gracefulShutDown(allowedDurationToNextStep: Self.grace)
        ]
        _ = try await Subprocess.run(
            .path(FilePath(path)),
            arguments: Arguments(arguments),
            platformOptions: options,
            input: .none,
            output: .sequence,
            error: .combinedWithOutput
        ) { execution in
            state.withLock { $0.processID = execution.processIdentifier.value }
            let lines = execution.standardOutput.strings(
                bufferingPolicy: .maxLineLength(Self.lineLimit)
            )
            for try await line in lines { receive(line) }
        }
        try Task.checkCancellation()
        throw DemoScript.failure("\(name) ended by itself.")
    }

    private func receive(_ line: String) {
        state.withLock { state in
            state.log.append(line)
            state.log.removeFirst(max(0, state.log.count - Self.logLimit))
        }
        continuation.yield(line)
    }
}
