package import GotchuCore
internal import Synchronization

/// Counts of the writer's work since it started.
package final class LedgerMetrics: Sendable {
    /// A consistent snapshot of all counters.
    package struct Reading: Sendable {
        /// The time from taking a batch from the queue to its durable commit.
        package var commitDuration = Histogram.local
        /// The committed batches by number of commands, in the classes of `batchSizes`.
        package var batches = Array(repeating: 0, count: LedgerMetrics.batchSizes.count)
        package var commands = 0
        /// The accepted, replayed and refused commands by name.
        package var accepted: [String: Int] = [:]
        package var replayed: [String: Int] = [:]
        package var refused: [String: [Refusal.Reason: Int]] = [:]
        /// The lateness of events that had a due time, by kind.
        package var lateness: [String: Histogram] = [:]
        /// The commands that were undecided or whose batch was not known to be committed.
        package var failedCommands = 0
        /// The commands rejected because the queue was full.
        package var queueFullCommands = 0
    }

    /// The upper bounds of the size classes in which batches are counted.
    package static let batchSizes = [1, 4, 16, 64, 256]

    private let state = Mutex(Reading())

    package init() {}

    package var reading: Reading { state.withLock { $0 } }

    func committed(
        _ verdicts: [(command: String, SubmissionEnd)],
        _ events: [Event],
        within duration: Duration
    ) {
        state.withLock { state in
            for event in events {
                guard let lateness = event.lateness else { continue }
                state.lateness[event.kind, default: .human].observe(lateness)
            }
            state.commitDuration.observe(duration)
            let index = Self.batchSizes.firstIndex { verdicts.count <= $0 }
            state.batches[index ?? Self.batchSizes.count - 1] += 1
            state.commands += verdicts.count
            for (command, verdict) in verdicts {
                switch verdict {
                case .accepted: state.accepted[command, default: 0] += 1
                case .replayed: state.replayed[command, default: 0] += 1
                case .refused(let reason):
                    state.refused[command, default: [:]][reason, default: 0] += 1
                case .undecided: state.failedCommands += 1
                }
            }
        }
    }

    func failed(commands: Int) {
        state.withLock { $0.failedCommands += commands }
    }

    func countQueueFull() {
        state.withLock { $0.queueFullCommands += 1 }
    }
}
