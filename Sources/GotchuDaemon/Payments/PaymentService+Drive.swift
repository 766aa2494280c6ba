import GotchuAPI
import GotchuCore
import Logging
import PaymentClient
import ServiceLifecycle

/// Carries out the steps that the flow of a payment or refund requests.
extension PaymentService {
    /// Drives a record until it has ended or the daemon stops.
    func drive(_ id: String, isResumed: Bool) async {
        if let record = record(id) { await drive(record, isResumed: isResumed) }
        // From now on, the session can be paid again.
        unlocking[id] = nil
    }

    private func drive<Record: MoneyRecord>(_ record: Record, isResumed: Bool) async {
        guard let progress = await open(record, isResumed: isResumed) else { return }
        var flow = record.flow(from: progress, isResumed: isResumed)
        let elapsed = elapsed
        var event = MoneyFlowEvent.started
        while true {
            switch flow.handle(event, jitter: .random(in: 0..<1)) {
            case .call(let call):
                // A stop happens only between two steps: the journal then has all that the next
                // start needs.
                guard !isTaskStopping, let now = self.record(record.id) as? Record else { return }
                event = .answered(await ask(call, about: now))
            case .journal(let stage):
                event = await journal(stage, of: record)
            case .wait(let duration, let reason):
                report(reason, of: record.id)
                if isOpen(record.id) { await wait(record.id, for: duration) }
                guard !isTaskStopping else { return }
                event = isOpen(record.id) ? .waited(elapsed: elapsed()) : .cancelled
            case .finish(let end): return finish(record, end)
            }
        }
    }

    /// Returns the progress of a record that may be sent; `nil` if it has ended.
    ///
    /// A record that is only begun was never sent. A new one continues once the journal says so.
    /// One that a start found, or whose write may have failed, ends as not started: its caller was
    /// not told that it was started.
    private func open<Record: MoneyRecord>(
        _ record: Record,
        isResumed: Bool
    ) async -> Record.Flow.Progress? {
        guard case .begun(let progress) = record.stage else { return record.stage.progress }
        while isOpen(record.id), !isTaskStopping {
            let next: MoneyStage<Record.Flow.Progress> =
                isResumed ? .ended(.declined(.notStarted)) : .open(progress)
            if case .journalled = await journal(next, of: record) {
                return isResumed ? nil : progress
            }
            report(.journal, of: record.id)
            await wait(record.id, for: RetrySchedule.firstDelay)
        }
        return nil
    }

    private func ask<Record: MoneyRecord>(
        _ call: Record.Flow.Call,
        about record: Record
    ) async -> PaymentAnswer {
        guard let client = core.client(for: record) else { return .notSent(.otherServer) }
        return await record.send(call, client)
    }

    /// Journals a record's new stage, and publishes it once it is on disk.
    ///
    /// - Returns: `.cancelled` if the record has already ended, for example by the user's
    ///   cancellation. Then nothing is written.
    private func journal<Record: MoneyRecord>(
        _ stage: MoneyStage<Record.Flow.Progress>,
        of record: Record
    ) async -> MoneyFlowEvent {
        await changes.lock()
        defer { changes.unlock() }
        guard var record = self.record(record.id) as? Record, record.isOpen else {
            return .cancelled
        }
        record.stage = stage
        record.updatedAt = .now
        do throws(JournalFailure) {
            try await core.journal.append(record.line)
        } catch {
            core.logger.error(
                "A payment could not be journalled",
                metadata: ["payment": "\(record.id)", "reason": "\(error.sentence)"]
            )
            return .journalFailed
        }
        update(record)
        return .journalled
    }

    /// Publishes an end that could not be journalled.
    private func finish<Record: MoneyRecord>(_ record: Record, _ end: MoneyOutcome) {
        guard var record = self.record(record.id) as? Record, record.isOpen else { return }
        record.stage = .ended(end)
        update(record)
    }

    private func isOpen(_ id: String) -> Bool { record(id)?.isOpen == true }

    private var isTaskStopping: Bool { Task.isCancelled || Task.isShuttingDownGracefully }
}
