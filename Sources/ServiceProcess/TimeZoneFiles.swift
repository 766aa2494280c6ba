import FoundationEssentials
import Glibc
package import GotchuCore

/// The time zone files of the system (tzdata).
package struct TimeZoneFiles: Sendable {
    private static let sizeLimit = 64 * 1024
    /// The largest number of symbolic links that are followed, as in the kernel.
    private static let linkLimit = 40
    /// Files that are no zones of their own, or say that no zone was chosen.
    private static let reserved: Set = ["localtime", "posixrules", "Factory"]

    package let folder: String

    package init(folder: String = "/usr/share/zoneinfo") {
        self.folder = folder
    }

    /// Reads the rules of a zone; `UTC` needs no file.
    ///
    /// - Returns: `nil` for an unknown zone. `TimeZoneName` refuses names that point outside the
    ///   folder.
    package func rules(of name: TimeZoneName) -> TimeZoneRules? {
        if name == .utc { return .utc }
        guard !Self.reserved.contains(name.rawValue) else { return nil }
        return Self.rules(inFile: "\(folder)/\(name.rawValue)")
    }

    /// Reads the rules in a file.
    static func rules(inFile path: String) -> TimeZoneRules? {
        content(path, limit: sizeLimit).flatMap { TimeZoneRules(tzif: $0) }
    }

    /// Reads a regular file; `nil` if it is missing, or larger than `limit` bytes.
    static func content(_ path: String, limit: Int) -> [UInt8]? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size <= limit, let data = FileManager.default.contents(atPath: path)
        else { return nil }
        return [UInt8](data)
    }

    /// Returns the first name of a zone on the way from a path to its file.
    func name(along path: String) -> TimeZoneName? {
        var place = path
        for _ in 0..<Self.linkLimit {
            if let name = name(inPath: place) { return name }
            let link = try? FileManager.default.destinationOfSymbolicLink(atPath: place)
            guard let link else { break }
            let parent = place.lastIndex(of: "/").map { place[...$0] } ?? ""
            place = link.hasPrefix("/") ? link : parent + link
        }
        // Folders on the way may be links too.
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return name(inPath: String(cString: real))
    }

    /// Returns the zone that a path in a folder of zones names, such as
    /// `../usr/share/zoneinfo/posix/Europe/Berlin`.
    private func name(inPath path: String) -> TimeZoneName? {
        let parts = path.split(separator: "/").filter { $0 != "." }
        guard let root = parts.lastIndex(of: "zoneinfo") else { return nil }
        var rest = parts[(root + 1)...]
        if rest.first == "posix" { rest = rest.dropFirst() }
        guard let name = TimeZoneName(rest.joined(separator: "/")), rules(of: name) != nil else {
            return nil
        }
        return name
    }

    /// Returns the name of a zone with the same rules; if there are several, that of a country.
    func name(of rules: TimeZoneRules) -> TimeZoneName? {
        if rules == .utc { return .utc }
        let table = Self.content("\(folder)/zone1970.tab", limit: Self.sizeLimit) ?? []
        let listed = String(decoding: table, as: UTF8.self).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
            .compactMap { $0.split(separator: "\t").dropFirst(2).first.map { String($0) } }
        let all = ((try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []).sorted()
            .filter { !$0.hasPrefix("posix/") && !$0.hasPrefix("right/") }
        return (listed + all).lazy.compactMap { TimeZoneName($0) }
            .first { self.rules(of: $0) == rules }
    }
}
