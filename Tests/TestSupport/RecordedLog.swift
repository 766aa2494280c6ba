package import Logging
import Synchronization

/// A log that records each event as one line: the level, the message and the sorted metadata.
package final class RecordedLog: Sendable {
    private let recorded = Mutex<[String]>([])

    private let level: Logger.Level

    /// - Parameter level: The lowest level that is recorded.
    package init(level: Logger.Level = .info) {
        self.level = level
    }

    package var lines: [String] { recorded.withLock { $0 } }

    package var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private func add(_ line: String) { recorded.withLock { $0.append(line) } }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level

        init(log: RecordedLog) {
            self.log = log
            logLevel = log.level
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
            log.add((["\(event.level): \(event.message)"] + all).joined(separator: " "))
        }
    }
}
