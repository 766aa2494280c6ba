import FoundationEssentials
import Glibc
package import GotchuCore

/// The time zone of this process: that of the variable `TZ`, else that of the machine.
///
/// It is found as the C library finds it (tzset(3), localtime(5)), with one difference: what cannot
/// be used is an error, and is not replaced by UTC. All programs take their local time from here.
package struct LocalTimeZone: Sendable {
    package let rules: TimeZoneRules
    /// The name on the way to the zone's file; `nil` if there is none.
    private let givenName: TimeZoneName?
    /// The setting that it comes from, for messages.
    private let source: String
    private let files: TimeZoneFiles

    private static let found = Result { () throws(LocalTimeZoneFailure) in
        try find(getenv("TZ").map { String(cString: $0) })
    }

    /// Finds the zone. Each program calls this first.
    package static func require() throws(LocalTimeZoneFailure) { _ = try found.get() }

    /// The zone as it was when the process started.
    package static var current: LocalTimeZone {
        // SAFETY: a program whose zone cannot be used ends in `require`.
        guard case .success(let zone) = found else { preconditionFailure("no time zone") }
        return zone
    }

    /// The names that are known without the package tzdata.
    private static let utcNames = ["UTC", "Etc/UTC"]

    /// - Parameters:
    ///   - variable: The value of `TZ`; `nil` if it is not set.
    ///   - etc: The folder of `localtime` and `timezone`.
    static func find(
        _ variable: String?,
        etc: String = "/etc",
        files: TimeZoneFiles = TimeZoneFiles()
    ) throws(LocalTimeZoneFailure) -> LocalTimeZone {
        guard let variable else { return try ofMachine(etc, files) }
        let source = "TZ=\(variable.prefix(80))"
        // A colon may stand before each form. An empty text is UTC.
        let text = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
        let path = text.hasPrefix("/") ? text : "\(files.folder)/\(text)"
        if text.isEmpty || utcNames.contains(text) {
            return LocalTimeZone(.utc, .utc, source, files)
        }
        if let rules = TimeZoneFiles.rules(inFile: path) {
            return LocalTimeZone(rules, files.name(along: path), source, files)
        }
        if let rules = TimeZoneRules(posix: text) {
            return LocalTimeZone(rules, nil, source, files)
        }
        throw LocalTimeZoneFailure(
            sentence: "\(source.debugDescription) names no time zone that can be used here.",
            fix: "Set TZ to a name such as Europe/Berlin (install tzdata if it is right), or "
                + "unset it for the machine's zone."
        )
    }

    private init(
        _ rules: TimeZoneRules,
        _ name: TimeZoneName?,
        _ source: String,
        _ files: TimeZoneFiles
    ) {
        (self.rules, givenName, self.source, self.files) = (rules, name, source, files)
    }

    private static func ofMachine(
        _ etc: String,
        _ files: TimeZoneFiles
    ) throws(LocalTimeZoneFailure) -> LocalTimeZone {
        let (path, namePath) = ("\(etc)/localtime", "\(etc)/timezone")
        let written = TimeZoneFiles.content(namePath, limit: 256)
            .map { String(decoding: $0, as: UTF8.self).trimmed }
        var entry = stat()
        if lstat(path, &entry) != 0 {
            // Without both files, the machine's time is UTC by definition.
            guard let written else { return LocalTimeZone(.utc, .utc, path, files) }
            if utcNames.contains(written) { return LocalTimeZone(.utc, .utc, namePath, files) }
            let name = TimeZoneName(written)
            if let name, let rules = files.rules(of: name) {
                return LocalTimeZone(rules, name, namePath, files)
            }
            throw .ofMachine("\(namePath) names \(written.prefix(80).debugDescription)")
        }
        let name = files.name(along: path)
        if let rules = TimeZoneFiles.rules(inFile: path) {
            let hint = written.flatMap { TimeZoneName($0) }
            let isHint = hint.flatMap { files.rules(of: $0) } == rules
            return LocalTimeZone(rules, name ?? (isHint ? hint : nil), path, files)
        }
        // The link of a machine without the package tzdata.
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
        if let target, utcNames.contains(where: { target.hasSuffix("zoneinfo/" + $0) }) {
            return LocalTimeZone(.utc, .utc, path, files)
        }
        throw .ofMachine(target.map { "\(path) is a link to \($0)" } ?? path)
    }

    /// Returns the zone's name for another program. A zone without a name gets that of a zone with
    /// the same rules.
    package func name() throws(LocalTimeZoneFailure) -> TimeZoneName {
        if let name = givenName ?? files.name(of: rules) { return name }
        throw LocalTimeZoneFailure(
            sentence: "The time zone of \(source.debugDescription) has no name, and the payment "
                + "server needs one.",
            fix: "Name a zone: --zone Europe/Berlin. For good: set TZ to a name, or run "
                + "timedatectl set-timezone Europe/Berlin, and restart the program."
        )
    }
}

/// The reason why the time zone of this process cannot be used.
package struct LocalTimeZoneFailure: Error {
    package let sentence: String
    package let fix: String

    fileprivate static func ofMachine(_ subject: String) -> LocalTimeZoneFailure {
        LocalTimeZoneFailure(
            sentence: "\(subject), which is no time zone that can be used here.",
            fix: "sudo timedatectl set-timezone Europe/Berlin (install tzdata if the zone is right)"
        )
    }
}
