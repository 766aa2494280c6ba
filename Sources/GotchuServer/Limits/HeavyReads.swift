internal import Glibc
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import NIOPosix
internal import Synchronization

/// The places of one class of heavy reads: reads whose work grows with the data and not only with a
/// page. All classes run on the same two threads, with a lower priority than payments. Of each
/// class two run at a time and some wait; further ones are refused. Any number of them thus delays
/// only other heavy reads.
final class HeavyReads: Sendable {
    static let runningLimit = 2
    /// The maximum number of reads that wait. Each takes some hundred bytes of memory.
    static let waitingLimit = 32
    /// The maximum number of files that are sent at the same time; a user has one at most.
    static let fileLimit = 2
    /// The time after which another file may take the place of a file.
    static let fileTime: Duration = .seconds(120)

    private enum Turn {
        case now(Int)
        case refused
    }

    private struct File {
        let number: Int
        let startedAt: MonotonicTime
    }

    private struct State {
        var freePlaces = Array(0..<runningLimit)
        var waiting: [CheckedContinuation<Turn, Never>] = []
        var files: [UserID: File] = [:]
        var fileCount = 0
    }

    /// The threads' executors. The threads run until the process ends.
    private static let executors: [EventLoopTaskExecutor] = {
        let threads = MultiThreadedEventLoopGroup(numberOfThreads: runningLimit)
        return threads.makeIterator().map { thread in
            // On Linux this sets the priority of the calling thread only.
            thread.execute { _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, 10) }
            return EventLoopTaskExecutor(thread)
        }
    }()
    private static let turn = Atomic<Int>(0)

    private let clock: @Sendable () -> MonotonicTime
    private let state = Mutex(State())

    init(clock: @escaping @Sendable () -> MonotonicTime = { .now }) {
        self.clock = clock
    }

    /// Runs a heavy read on a thread of the pool. The read must not call this method.
    ///
    /// - Throws: The errors of the read. A problem: 503 if too many reads wait.
    func run<Value: Sendable>(
        _ read: @Sendable () async throws -> Value
    ) async throws -> Value {
        let turn = await withCheckedContinuation { caller in
            if let turn = enter(caller) { caller.resume(returning: turn) }
        }
        guard case .now(let place) = turn else {
            throw Problem(
                .tryAgain,
                detail: "The server is computing as many long answers as it may: repeat this call.",
                retryable: true
            ).retry(after: 1)
        }
        defer { leave(place) }
        return try await withTaskExecutorPreference(Self.executors[place]) { try await read() }
    }

    /// Runs work that is limited to one page on a thread of the pool, without a place in it. Many
    /// such calls at once do not occupy the event loops.
    static func runOnPool<Value: Sendable>(
        _ work: @Sendable () async throws -> Value
    ) async throws -> Value {
        let number = turn.add(1, ordering: .relaxed).newValue
        let executor = executors[Int(UInt(bitPattern: number) % UInt(executors.count))]
        return try await withTaskExecutorPreference(executor) { try await work() }
    }

    /// Wraps a handler that decodes or renders much: it runs on a thread of the pool.
    static func onPool(_ handler: @escaping WebGate.Handler) -> WebGate.Handler {
        { request, context in try await runOnPool { try await handler(request, context) } }
    }

    /// - Returns: The caller's turn; `nil` if the caller waits for it.
    private func enter(_ caller: CheckedContinuation<Turn, Never>) -> Turn? {
        state.withLock { state in
            if let place = state.freePlaces.popLast() { return .now(place) }
            guard state.waiting.count < Self.waitingLimit else { return .refused }
            state.waiting.append(caller)
            return nil
        }
    }

    private func leave(_ place: Int) {
        let next = state.withLock { state -> CheckedContinuation<Turn, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.freePlaces.append(place)
            return nil
        }
        next?.resume(returning: .now(place))
    }
}

/// The places of files that are sent page by page.
extension HeavyReads {
    /// A place for a file. It is free again when the value is released.
    final class FilePlace: Sendable {
        private let reads: HeavyReads
        private let user: UserID
        private let number: Int

        fileprivate init(_ reads: HeavyReads, _ user: UserID, _ number: Int) {
            (self.reads, self.user, self.number) = (reads, user, number)
        }

        deinit {
            reads.state.withLock { if $0.files[user]?.number == number { $0.files[user] = nil } }
        }

        /// A Boolean that is true until another file has taken the place.
        var isHeld: Bool { reads.state.withLock { $0.files[user]?.number == number } }
    }

    /// Takes a place for a user's file.
    ///
    /// - Throws: A problem: 429 if a file of the user is being sent, 503 if all places are taken.
    func beginFile(for user: UserID) throws -> FilePlace {
        let now = clock()
        return try state.withLock { state in
            state.files = state.files.filter { now - $0.value.startedAt < Self.fileTime }
            guard state.files[user] == nil else {
                throw Problem(
                    .rateLimited,
                    detail: "Another file of this login is being sent: wait until it is there."
                ).retry(after: 5)
            }
            guard state.files.count < Self.fileLimit else {
                throw Problem(
                    .tryAgain,
                    detail: "Files of others are being sent: repeat this in a while.",
                    retryable: true
                ).retry(after: 5)
            }
            state.fileCount += 1
            state.files[user] = File(number: state.fileCount, startedAt: now)
            return FilePlace(self, user, state.fileCount)
        }
    }
}

/// A cache of heavy reads. Callers that miss the same value share one read.
final class HeavyCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        /// The number that tells versions of the value apart.
        let version: Int64
        let read: Task<Value, any Error>
        /// The time at which the read ended; `nil` while it runs.
        var readAt: MonotonicTime?
    }

    private let reads: HeavyReads
    private let limit: Int
    private let age: Duration?
    private let entries = Mutex<[Key: Entry]>([:])

    /// - Parameters:
    ///   - limit: The maximum number of values.
    ///   - age: The age at which a value is read again; `nil` if a version never changes.
    init(_ reads: HeavyReads, limit: Int, age: Duration? = nil) {
        (self.reads, self.limit, self.age) = (reads, limit, age)
    }

    /// Returns a version of a value. Reads it if it is missing or too old. A failed read is not
    /// cached.
    ///
    /// - Parameter read: Reads the value. Its parameter is the cached one that it replaces.
    /// - Throws: The errors of `HeavyReads.run`.
    func value(
        of key: Key,
        version: Int64,
        _ read: @escaping @Sendable (Value?) async throws -> Value
    ) async throws -> Value {
        let now = MonotonicTime.now
        let task = entries.withLock { entries in
            let known = entries[key]
            if let known, known.version == version, isFresh(known, at: now) { return known.read }
            let old = known.flatMap { $0.readAt == nil ? nil : $0.read }
            // The task is no child of the caller: other callers need its value even if this one is
            // cancelled.
            // SAFETY: the entry owns the task.
            let task = Task {
                do {
                    let value = try await reads.run { try await read(try? old?.value) }
                    end(key, version) { $0?.readAt = .now }
                    return value
                } catch {
                    end(key, version) { $0 = nil }
                    throw error
                }
            }
            entries.keep(Entry(version: version, read: task), for: key, limit: limit)
            return task
        }
        return try await task.value
    }

    private func isFresh(_ entry: Entry, at time: MonotonicTime) -> Bool {
        guard let age, let readAt = entry.readAt else { return true }
        return time - readAt < age
    }

    private func end(_ key: Key, _ version: Int64, _ change: (inout Entry?) -> Void) {
        entries.withLock { if $0[key]?.version == version { change(&$0[key]) } }
    }
}

extension Dictionary {
    /// Stores a value. If a new key would exceed the limit, first evicts a random other key.
    mutating func keep(_ value: Value, for key: Key, limit: Int) {
        if count >= limit, self[key] == nil, let other = keys.randomElement() {
            removeValue(forKey: other)
        }
        self[key] = value
    }
}
