import Subprocess
import Synchronization
import SystemPackage

/// A program that runs as long as the demo needs it.
final class DemoChild: Sendable {
    /// The number of log lines that are kept to be shown if it fails.
    private static let logLimit = 12
    /// The time it has to end before it is killed.
    private static let grace = Duration.seconds(5)
    private static let lineLimit = 64 * 1024

    let name: String
    private let path: String
    private let arguments: [String]
    private let state = Mutex(State())
    /// Its process id and then its lines, as they are written; the oldest are dropped if nobody
    /// reads.
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

    /// The last lines that it wrote.
    var log: [String] { state.withLock { $0.log } }

    /// Runs it until the task is cancelled. Ending before that is a failure.
    func run() async throws {
        defer { continuation.finish() }
        var options = PlatformOptions()
        // In a group of its own, so that Ctrl-C reaches only this process, which ends its children
        // in order.
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
