internal import Glibc
internal import Logging

/// Writes log lines to standard error: with the priority that the journal reads (sd-daemon(3)) when
/// systemd started the program, plain otherwise.
struct StandardErrorLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info
    private let hasPriorities: Bool

    init(hasPriorities: Bool) {
        self.hasPriorities = hasPriorities
    }

    /// A logger for this process.
    static func logger(level: Logger.Level = .info) -> Logger {
        let isUnderSystemd = getenv("INVOCATION_ID") != nil || getenv("JOURNAL_STREAM") != nil
        var logger = Logger(label: "gotchu-server") { _ in
            StandardErrorLog(hasPriorities: isUnderSystemd)
        }
        logger.logLevel = level
        return logger
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let merged = metadata.merging(event.metadata ?? [:]) { _, new in new }
        let details = merged.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        let start = hasPriorities ? "<\(priority(of: event.level))>" : "\(event.level): "
        // One line, whatever is in it: a line break would let a value forge another entry.
        let line = "\(event.message)\(details)".split(whereSeparator: \.isNewline)
        Console.error(start + line.joined(separator: " "))
    }

    private func priority(of level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
