import Ledger
import Logging
import Synchronization
import TestSupport
import Testing

@testable import GotchuServer

@Suite("The log of the ledger's failures")
struct ProblemLogTests {
    private final class Levels: Sendable {
        private let said = Mutex<[Logger.Level]>([])

        var all: [Logger.Level] { said.withLock { $0 } }
        var logger: Logger { Logger(label: "test") { _ in Handler(levels: self) } }

        private struct Handler: LogHandler {
            let levels: Levels
            var metadata: Logger.Metadata = [:]
            var logLevel = Logger.Level.debug

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) { levels.said.withLock { $0.append(event.level) } }
        }
    }

    @Test("The first error of a corrupt database and every unknown outcome are logged as warnings")
    func broken() async throws {
        let levels = Levels()
        func fail(_ code: LedgerError.Code) {
            _ = Problems.refused(LedgerError(code, "It failed."), levels.logger)
        }
        fail(.tryAgain)
        // The process has one throttle for each code, which another run may have used just now.
        try await eventually("an error of a corrupt database is logged as a warning") {
            fail(.corrupt)
            return levels.all.last == .warning ? true : nil
        }
        fail(.corrupt)
        fail(.unknownOutcome)
        fail(.unknownOutcome)
        #expect(levels.all.suffix(4) == [.warning, .debug, .warning, .warning])
    }
}
