import GotchuCore
import Synchronization

/// Prints the demo's steps, each with the time that it took.
final class DemoOutput: Sendable {
    /// A step in JSON.
    struct Step: Encodable {
        let text: String
        let milliseconds: Int64

        private enum CodingKeys: String, CodingKey {
            case text
            case milliseconds = "ms"
        }
    }

    /// The time limit of a step.
    private static let limit = Duration.seconds(20)

    private struct Story: Encodable {
        let steps: [Step]
    }

    private let output: Output
    private let steps = Mutex<[Step]>([])

    init(output: Output) {
        self.output = output
    }

    /// Runs one step and prints it when it is done.
    @discardableResult
    func step<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> (Result, String)
    ) async throws -> Result {
        let start = ContinuousClock.now
        let (result, text): (Result, String)
        do {
            (result, text) = try await withTimeout(Self.limit, work)
        } catch is TimedOut {
            throw CommandFailure.tryAgain(
                "The step did not end within \(Self.limit.wholeSecondsText).",
                next: "gotchu-ctl demo"
            )
        }
        let took = start.duration(to: .now)
        steps.withLock {
            $0.append(Step(text: text, milliseconds: took.wholeMilliseconds))
        }
        if !output.isJSON {
            let mark = output.data.paint("✓", .green)
            output.line("\(mark) \(output.data.paint(Self.column(took), .dim))  \(text)")
        }
        return result
    }

    /// Prints more about the current step.
    func detail(_ text: String) {
        guard !output.isJSON else { return }
        output.line("           " + output.data.paint(text, .dim))
    }

    /// Prints a line that belongs to no step, and its details indented.
    func note(_ text: String, _ details: String...) {
        guard !output.isJSON else { return }
        output.line("\n" + text)
        for text in details { output.line("    " + text) }
    }

    /// Prints the children's last log lines after a failure.
    func printLastOutput(of children: [DemoChild]) {
        for child in children where !child.log.isEmpty {
            output.message("\(child.name) last said:")
            for line in child.log { output.message("    \(line.printable)") }
        }
    }

    func finish() throws {
        if output.isJSON {
            try output.json(Story(steps: steps.withLock { $0 }))
        } else {
            output.line()
            output.line("That was all; nothing is left behind. Next: gotchu-ctl doctor")
        }
    }

    private static func column(_ duration: Duration) -> String {
        let milliseconds = duration.wholeMilliseconds
        let text =
            milliseconds < 10_000
            ? "\(milliseconds) ms" : "\(milliseconds / 1000) s"
        return String(repeating: " ", count: max(0, 7 - text.count)) + text
    }
}
