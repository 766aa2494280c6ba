import Ledger
import Logging
import Synchronization
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
    func broken() {
        let levels = Levels()
        func fail(_ code: LedgerError.Code) {
            _ = Problems.refused(LedgerError(code, "It failed."), levels.logger)
        }
        fail(.tryAgain)
        fail(.corrupt)
        fail(.corrupt)
        fail(.unknownOutcome)
        fail(.unknownOutcome)
        #expect(levels.all.dropFirst() == [.warning, .debug, .warning, .warning])
    }
}
