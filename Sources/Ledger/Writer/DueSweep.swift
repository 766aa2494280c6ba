internal import GotchuCore
internal import Logging
internal import ServiceLifecycle
internal import ServiceProcess

/// The properties of a kind of record that the ledger itself uses.
package struct RecordKind: Sendable {
    /// The stored name.
    package let name: String
    /// Creates the command that records the effects of time on a record; `nil` for a kind whose due
    /// records are claimed by a worker and skipped by the sweep.
    package let settle: (@Sendable (RecordID) -> any LedgerCommand)?

    package init(_ name: String, settle: (@Sendable (RecordID) -> any LedgerCommand)?) {
        self.name = name
        self.settle = settle
    }
}

/// A service that records the expiry of records, so that their watchers are notified in time.
///
/// Correctness does not depend on it: commands on expired records are refused even before it has
/// run.
struct DueSweep: Service {
    /// The interval between sweeps, which bounds how late watchers are notified of an expiry.
    static let interval: Duration = .milliseconds(250)
    /// The delay before a record whose change was refused is retried. For example, reading all
    /// entries of a contest in every sweep would slow payments.
    private static let refusedPause: Duration = .seconds(5)
    private static let batchLimit = 256

    private let store: any LedgerStorage
    private let writer: LedgerWriter
    private let kinds: [String: RecordKind]
    /// The kinds of records that the sweep skips.
    private let skippedKinds: [String]
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
        skippedKinds = kinds.filter { $0.settle == nil }.map(\.name)
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
            var pauses: [RecordID: MonotonicTime] = [:]
            while !Task.isCancelled {
                // Polling is needed: records become due by time alone, and other servers write them
                // too.
                try? await Task.sleep(for: Self.interval)
                do throws(LedgerError) {
                    let count = try await sweep(skipping: passedOver, &pauses)
                    // Records that cannot be settled stay due. After a full batch, the next sweep
                    // skips it, so that others are reached.
                    passedOver = count == Self.batchLimit ? passedOver + count : 0
                    failures.recordSuccess()
                } catch {
                    failures.recordFailure(error)
                }
            }
        }
    }

    /// Settles a batch. If it fails, the next sweep retries it.
    ///
    /// - Parameter pauses: The retry times of records whose changes were refused.
    /// - Returns: The number of due records in the batch.
    private func sweep(
        skipping passedOver: Int,
        _ pauses: inout [RecordID: MonotonicTime]
    ) async throws(LedgerError) -> Int {
        let due = try await store.due(
            at: store.now.advanced(by: .zero - store.expiryMargin),
            excluding: skippedKinds,
            skipping: passedOver,
            limit: Self.batchLimit
        )
        let now = MonotonicTime.now
        pauses = pauses.filter { now < $0.value }
        var failure: LedgerError?
        await withTaskGroup(of: (RecordID, Result<Bool, LedgerError>).self) { group in
            for record in due where pauses[record.id] == nil {
                guard let command = kinds[record.kind]?.settle?(record.id) else {
                    unsettled(record.id, "it is of no kind that this server knows")
                    continue
                }
                // Submitted concurrently, so that the commands share a commit.
                group.addTask { (record.id, await settle(record.id, command)) }
            }
            for await (record, result) in group {
                switch result {
                case .success(true): break
                case .success(false): pauses[record] = now + Self.refusedPause
                case .failure(let error): failure = failure ?? error
                }
            }
        }
        if let failure { throw failure }
        return due.count
    }

    /// Logs, at a limited rate, that a record stays due.
    private func unsettled(_ record: RecordID, _ reason: String) {
        logger.log(
            level: throttle.level(.error),
            "A record cannot be settled: run gotchu-server verify.",
            metadata: ["record": "\(record)", "reason": "\(reason)"]
        )
    }

    /// - Returns: False if the change was refused; a failure if it could not be recorded.
    private func settle(
        _ record: RecordID,
        _ command: some LedgerCommand
    ) async -> Result<Bool, LedgerError> {
        do throws(LedgerError) {
            guard case .failure(let refusal) = try await writer.submit(command).outcome else {
                return .success(true)
            }
            unsettled(record, "it was refused as \(refusal.reason.rawValue)")
            return .success(false)
        } catch {
            return .failure(error)
        }
    }
}
