import Glibc
package import Logging

/// Writes one line per log record to standard error: the level, a constant sentence, then the
/// metadata as `key=value`.
///
/// Under systemd, each line begins with its priority (`<6>`, sd-daemon(3)), by which the system's
/// journal can filter. Otherwise it begins with the level's name.
package struct StandardErrorLogHandler: LogHandler {
    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    private let hasPriorities: Bool
    private let ring: LogRing?

    /// - Parameters:
    ///   - hasPriorities: True if systemd reads the lines.
    ///   - ring: The ring to which each line is also written.
    package init(
        level: Logger.Level,
        hasPriorities: Bool = getenv("JOURNAL_STREAM") != nil,
        ring: LogRing? = nil
    ) {
        logLevel = level
        self.hasPriorities = hasPriorities
        self.ring = ring
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var line = "\(event.message)"
        let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
        for (key, value) in all.sorted(by: { $0.key < $1.key }) {
            line += " \(key)=\(Self.quoted("\(value)"))"
        }
        Console.error((hasPriorities ? "<\(event.level.priority)>" : "\(event.level): ") + line)
        ring?.append("\(event.level): \(line)")
    }

    /// Quotes a text that is empty or has spaces, control characters or quotes, and escapes these.
    /// Text from outside can then not forge a line.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy {
            $0.value > 0x20 && $0 != "\"" && $0.value != 0x7F
        }
        return isPlain && !text.isEmpty ? text : text.debugDescription
    }
}

extension Logger.Level {
    /// The syslog(3) priority of this level.
    fileprivate var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
