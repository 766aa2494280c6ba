import Synchronization

@testable import GotchuDaemon

/// A journal in memory. A test chooses the writes that fail.
final class MemoryJournal: RecordJournal {
    let contentsAtStart: JournalContents

    private struct State {
        var records: [JournalRecord] = []
        var writes = 0
        var failing: Set<Int> = []
        var uncertain: Set<Int> = []
    }

    private let state = Mutex(State())

    /// - Parameter records: The records of an earlier run.
    init(_ records: [JournalRecord] = []) {
        var contents = JournalContents()
        for record in records { contents.add(record) }
        contentsAtStart = contents
        state.withLock { $0.records = records }
    }

    /// Makes the writes with these numbers fail. The first write has the number 1.
    func fail(_ writes: Int...) { state.withLock { $0.failing.formUnion(writes) } }

    /// Makes the write with this number fail, although a restart finds its record.
    func failUncertainly(_ write: Int) { state.withLock { _ = $0.uncertain.insert(write) } }

    /// The records of the earlier run and of this run.
    var records: [JournalRecord] { state.withLock(\.records) }

    func append(_ record: JournalRecord) async throws(JournalFailure) {
        let failure = state.withLock { state -> JournalFailure? in
            state.writes += 1
            if state.failing.contains(state.writes) {
                return .system(operation: "write", reason: "No space left on device")
            }
            state.records.append(record)
            return state.uncertain.contains(state.writes)
                ? .uncertain(operation: "sync", reason: "Input/output error") : nil
        }
        if let failure { throw failure }
    }
}
