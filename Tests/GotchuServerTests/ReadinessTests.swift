import GotchuAPI
import Ledger
import LedgerStore
import Logging
import ServiceLifecycle
import TestSupport
import Testing

@testable import GotchuServer

@Suite("Readiness")
struct ReadinessTests {
    @Test("All callers share one readiness check, and get an error if it takes too long")
    func oneProof() async throws {
        let folder = try TemporaryFolder()
        let ledger = Ledger(
            store: try SQLiteStore(path: folder.path + "/books.db"),
            kinds: RecordKind.all,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let clock = TestClock()
        let readiness = Readiness(ledger: ledger, timeout: .seconds(60)) { clock.now }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await readiness.check() }
            // No service of the ledger runs yet, so the check waits.
            try await eventually("the check is queued") { ledger.waitingCount == 1 ? true : nil }
            for _ in 0..<100 { try await readiness.check() }
            clock.advance(.seconds(1))
            await #expect(throws: ProblemWithHeaders.self) { try await readiness.check() }
            #expect(ledger.waitingCount == 1)

            for service in ledger.services { group.addTask { try? await service.run() } }
            // The first task that ends is the check: the services run until they are cancelled.
            try await group.next()
            try await readiness.check()
            group.cancelAll()
        }
    }
}
