internal import GotchuCore
internal import Logging
internal import ServiceLifecycle
internal import ServiceProcess

/// A kind of record, as far as the ledger itself uses it.
package struct RecordKind: Sendable {
    /// The stored name.
    package let name: String
    /// Makes the command that records what time has changed of a record; `nil` for a kind whose due
    /// records a worker claims, and the sweep passes.
    package let settle: (@Sendable (RecordID) -> any LedgerCommand)?

    package init(_ name: String, settle: (@Sendable (RecordID) -> any LedgerCommand)?) {
        self.name = name
        self.settle = settle
    }
}

/// Records the expiry of records, so that their watchers learn of it in time.
///
/// Only tidying: expired records are refused even before it has run.
struct DueSweep: Service {
    /// The delay within which a watcher learns that a record has expired.
    static let interval: Duration = .milliseconds(250)
    private static let batchLimit = 256

    private let store: any LedgerStorage
    private let writer: LedgerWriter
    private let kinds: [String: RecordKind]
    /// The kinds of records that are none of its business.
    private let passed: [String]
    private let logger: Logger
    private let throttle = LogThrottle()

    init(
        store: any LedgerStorage,
        writer: LedgerWriter,
        kinds: [RecordKind],
        logger: Logger
    ) {
        self.store = store
        self.writer = writer
        self.kinds = Dictionary(uniqueKeysWithValues: kinds.map { ($0.name, $0) })
        passed = kinds.filter { $0.settle == nil }.map(\.name)
        self.logger = logger
    }

    func run() async {
        await cancelWhenGracefulShutdown {
            var failures = FailureLog(
                logger,
                failure: "Expired records could not be recorded.",
                recovery: "Expired records are recorded again."
            )
            var passedOver = 0
            var refused = RefusedRecords()
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.interval)
                do throws(LedgerError) {
                    let count = try await sweep(skipping: passedOver, &refused)
                    // Records that cannot be settled stay due: behind a full batch of them others
                    // may wait.
                    passedOver = count == Self.batchLimit ? passedOver + count : 0
                    failures.worked()
                } catch {
                    failures.failed(error)
                }
            }
        }
    }

    /// Settles a batch. The next sweep makes good one that fails.
    ///
    /// - Returns: The number of records that were due behind those that it skips.
    private func sweep(
        skipping passedOver: Int,
        _ refused: inout RefusedRecords
    ) async throws(LedgerError) -> Int {
        let due = try await store.due(
            at: store.now.advanced(by: .zero - store.expiryMargin),
            passing: passed,
            skipping: passedOver,
            limit: Self.batchLimit
        )
        let now = MonotonicTime.now
        refused.forget(at: now)
        var failure: LedgerError?
        await withTaskGroup(of: (RecordID, Result<Void, LedgerError>?).self) { group in
            for record in due where !refused.isPaused(record.id, at: now) {
                guard let command = kinds[record.kind]?.settle?(record.id) else {
                    unsettled(record.id, "it is of no kind that this server knows")
                    continue
                }
                // The commands meet in the writer's queue and share a commit.
                group.addTask { (record.id, await settle(record.id, command)) }
            }
            for await (record, result) in group {
                switch result {
                case .success?: break
                case .failure(let error)?: failure = failure ?? error
                case nil: refused.add(record, at: now)
                }
            }
        }
        if let failure { throw failure }
        return due.count
    }

    /// Logs, now and then, that a record stays due.
    private func unsettled(_ record: RecordID, _ reason: String) {
        logger.log(
            level: throttle.level(.error),
            "A record cannot be settled: run gotchu-server verify.",
            metadata: ["record": "\(record)", "reason": "\(reason)"]
        )
    }

    /// - Returns: A failure to record the change; `nil` if the change was refused.
    private func settle(
        _ record: RecordID,
        _ command: some LedgerCommand
    ) async -> Result<Void, LedgerError>? {
        do throws(LedgerError) {
            guard case .failure(let refusal) = try await writer.submit(command).outcome else {
                return .success(())
            }
            unsettled(record, "it was refused as \(refusal.reason.rawValue)")
            return nil
        } catch {
            return .failure(error)
        }
    }
}

/// The records whose changes were refused. Each waits longer before it is looked at again: all
/// entries of a contest, read with every sweep, would slow payments.
private struct RefusedRecords {
    private static let (shortest, longest) = (Duration.seconds(1), Duration.seconds(30))

    private var pauses: [RecordID: (end: MonotonicTime, length: Duration)] = [:]

    func isPaused(_ record: RecordID, at now: MonotonicTime) -> Bool {
        pauses[record].map { now < $0.end } ?? false
    }

    mutating func add(_ record: RecordID, at now: MonotonicTime) {
        let length = pauses[record].map { min(Self.longest, $0.length * 2) } ?? Self.shortest
        pauses[record] = (now + length, length)
    }

    /// Forgets those that are due no more.
    mutating func forget(at now: MonotonicTime) {
        pauses = pauses.filter { now - $0.value.end < Self.longest }
    }
}
