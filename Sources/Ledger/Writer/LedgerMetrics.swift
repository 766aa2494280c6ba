package import GotchuCore
internal import Synchronization

/// What the writer has done since it started, for those who watch over it.
package final class LedgerMetrics: Sendable {
    /// A reading: everything at one moment.
    package struct Reading: Sendable {
        /// From taking a batch from the queue to its durable end.
        package var commitDuration = Histogram.local
        /// Batches that were committed, by how many commands they carried.
        package var batches = Array(repeating: 0, count: LedgerMetrics.batchSizes.count)
        package var commands = 0
        package var payments = 0
        /// Payments that were answered from memory.
        package var replays = 0
        /// Payments that were declined, by reason; replays are not counted again.
        package var declines: [Refusal.Reason: Int] = [:]
        /// Other commands that were refused, by reason.
        package var refusals: [Refusal.Reason: Int] = [:]
        /// Commands whose batch was not committed: their callers were told to try again.
        package var failedCommands = 0
        /// Commands that were not taken because too many waited.
        package var turnedAway = 0
    }

    /// The largest number of commands of each kind of batch that is counted apart.
    package static let batchSizes = [1, 4, 16, 64, 256]

    private let state = Mutex(Reading())

    package init() {}

    package var reading: Reading { state.withLock { $0 } }

    func committed(_ commands: [Command], _ decision: Decision, within duration: Duration) {
        let size = decision.answers.count
        state.withLock { state in
            state.commitDuration.observe(duration)
            let index = Self.batchSizes.firstIndex { size <= $0 } ?? Self.batchSizes.count - 1
            state.batches[index] += 1
            state.commands += size
            for (command, answer) in zip(commands, decision.answers) {
                state.count(answer, to: command.action)
            }
        }
    }

    func failed(commands: Int) {
        state.withLock { $0.failedCommands += commands }
    }

    func turnedAway() {
        state.withLock { $0.turnedAway += 1 }
    }
}

extension LedgerMetrics.Reading {
    fileprivate mutating func count(_ answer: Answer, to action: Command.Action) {
        switch answer {
        case .send(let answer) where answer.isReplay:
            replays += 1
        case .send(let answer):
            guard case .declined(let refusal) = answer.send.outcome else { return payments += 1 }
            declines[refusal.reason, default: 0] += 1
        case .refund(let answer):
            guard !answer.isReplay, case .declined(let refusal) = answer.refund.outcome else {
                return
            }
            refusals[refusal.reason, default: 0] += 1
        case .refused(let refusal):
            guard case .send = action else { return refusals[refusal.reason, default: 0] += 1 }
            declines[refusal.reason, default: 0] += 1
        case .held: failedCommands += 1
        case .user, .session, .rotation, .done: break
        }
    }
}
