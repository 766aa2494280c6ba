import GotchuAPI
import GotchuCore
import HTTPTypes
import Ledger
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import GotchuServer

@Suite("Heavy reads")
struct HeavyReadTests {
    /// A gate at which reads wait until it is opened.
    private final class Gate: Sendable {
        private struct State {
            var isOpen = false
            var waiting: [CheckedContinuation<Void, Never>] = []
            var (started, running, most) = (0, 0, 0)
        }

        private let state = Mutex(State())

        var started: Int { state.withLock { $0.started } }
        /// The largest number of reads that ran at the same time.
        var most: Int { state.withLock { $0.most } }

        func pass() async {
            await withCheckedContinuation { read in
                let isOpen = state.withLock { state in
                    state.started += 1
                    state.running += 1
                    state.most = max(state.most, state.running)
                    if !state.isOpen { state.waiting.append(read) }
                    return state.isOpen
                }
                if isOpen { read.resume() }
            }
            state.withLock { $0.running -= 1 }
        }

        func openForAll() {
            let waiting = state.withLock { state in
                state.isOpen = true
                return state.waiting
            }
            for read in waiting { read.resume() }
        }
    }

    private let clock = TestClock()
    private let users = (0..<4).map { UserID(trusted: "user-\($0)") }

    private var reads: HeavyReads { HeavyReads { [clock] in clock.now } }

    @Test("Sixty callers of the same missing value share one read")
    func sharedRead() async throws {
        let gate = Gate()
        let cache = HeavyCache<Int, Int>(reads, limit: 4)
        let callers = (0..<60).map { _ in
            // SAFETY: the test awaits it.
            Task.immediate {
                try await cache.value(of: 1, version: 1) { _ in
                    await gate.pass()
                    return 7
                }
            }
        }
        gate.openForAll()
        for caller in callers { #expect(try await caller.value == 7) }
        #expect(gate.started == 1)
        // The cached value needs no read, and another version replaces it.
        #expect(try await cache.value(of: 1, version: 1) { _ in 8 } == 7)
        #expect(try await cache.value(of: 1, version: 2) { old in 9 + (old ?? 0) } == 16)
    }

    @Test("A failed read is not cached, and all of its callers get its error")
    func failedRead() async throws {
        struct Failure: Error {}
        let gate = Gate()
        let cache = HeavyCache<Int, Int>(reads, limit: 4)
        let callers = (0..<3).map { _ in
            // SAFETY: the test awaits it.
            Task.immediate {
                try await cache.value(of: 1, version: 1) { _ in
                    await gate.pass()
                    throw Failure()
                }
            }
        }
        gate.openForAll()
        for caller in callers {
            await #expect(throws: Failure.self) { try await caller.value }
        }
        #expect(try await cache.value(of: 1, version: 1) { _ in 8 } == 8)
    }

    @Test("Two heavy reads run at once, some wait, and the next one is told to try again")
    func places() async throws {
        let (reads, gate) = (reads, Gate())
        let callers = (0..<HeavyReads.runningLimit + HeavyReads.waitingLimit).map { _ in
            // SAFETY: the test awaits it.
            Task.immediate { try await reads.run { await gate.pass() } }
        }
        let refused = await #expect(throws: ProblemWithHeaders.self) { try await reads.run {} }
        #expect(refused?.problem.errorCode == .tryAgain && refused?.problem.status == 503)
        #expect(refused?.headers[.retryAfter] == "1")
        gate.openForAll()
        for caller in callers { try await caller.value }
        #expect(gate.started == callers.count && gate.most == HeavyReads.runningLimit)
        try await reads.run {}
    }

    @Test("A login has one file at a time, all logins have two, and a file may last two minutes")
    func files() throws {
        let reads = reads
        let first = try reads.beginFile(for: users[0])
        var refused = #expect(throws: ProblemWithHeaders.self) {
            try reads.beginFile(for: users[0])
        }
        #expect(refused?.problem.errorCode == .rateLimited)
        var second: HeavyReads.FilePlace? = try reads.beginFile(for: users[1])
        refused = #expect(throws: ProblemWithHeaders.self) { try reads.beginFile(for: users[2]) }
        #expect(refused?.problem.errorCode == .tryAgain)
        #expect(second?.isHeld == true)
        second = nil
        let third = try reads.beginFile(for: users[2])
        clock.advance(HeavyReads.fileTime - .seconds(1))
        #expect(throws: ProblemWithHeaders.self) { try reads.beginFile(for: users[3]) }
        #expect(first.isHeld && third.isHeld)
        clock.advance(.seconds(1))
        let fourth = try reads.beginFile(for: users[3])
        #expect(!first.isHeld && !third.isHeld && fourth.isHeld)
    }

    /// Reads a stream's next piece once it is there.
    private func next(of stream: FileStream) async throws -> ReplyPiece {
        try await eventually("a piece is there") { stream.next() }
    }

    private func text(_ piece: ReplyPiece) -> String? {
        if case .bytes(let bytes) = piece { String(buffer: bytes) } else { nil }
    }

    @Test("A file is read page by page, one page ahead of its client at most")
    func pages() async throws {
        let read = Atomic(0)
        let stream = FileStream(
            in: try reads.beginFile(for: users[0]),
            beginning: "titles\n",
            pages: { start in
                let number = (start ?? 0) + 1
                #expect(read.add(1, ordering: .relaxed).newValue == Int(number))
                // The third page has no lines, as if a wallet had many entries of other kinds.
                return (number == 3 ? "" : "page \(number)\n", number < 5 ? number : nil)
            }
        )
        stream.listen {}
        #expect(read.load(ordering: .relaxed) == 0)
        var pieces: [String] = []
        for most in [1, 2, 4, 5, 5] {
            pieces.append(try #require(text(try await next(of: stream))))
            #expect(read.load(ordering: .relaxed) <= most)
        }
        #expect(pieces == ["titles\n", "page 1\n", "page 2\n", "page 4\n", "page 5\n"])
        guard case .end = try await next(of: stream) else {
            Issue.record("The file does not end.")
            return
        }
    }

    @Test("A file whose place was taken, or whose read fails, ends broken")
    func brokenFile() async throws {
        let reads = reads
        for isTaken in [true, false] {
            let stream = FileStream(
                in: try reads.beginFile(for: users[0]),
                beginning: "titles\n",
                pages: { _ in
                    guard isTaken else { throw LedgerError(.tryAgain, "Away.") }
                    return ("page\n", nil)
                }
            )
            stream.listen {}
            if isTaken {
                clock.advance(HeavyReads.fileTime)
                _ = try reads.beginFile(for: users[1])
            }
            #expect(text(try await next(of: stream)) == "titles\n")
            guard case .broken = try await next(of: stream) else {
                Issue.record("The file is not broken.")
                return
            }
        }
    }
}
