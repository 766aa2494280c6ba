import Foundation
import GotchuCore
import TestSupport
import Testing

@testable import ServiceProcess

/// Tests of the time zone of a process. A folder has copies of a few zone files, and the files of
/// a machine.
@Suite("The time zone of a process")
struct LocalTimeZoneTests {
    private static let system = "/usr/share/zoneinfo"
    private static let names = [
        "Europe/Berlin", "Asia/Tokyo", "America/New_York", "Etc/UTC", "Etc/GMT-3",
    ]

    private let folder: TemporaryFolder
    private var etc: String { folder.path + "/etc" }
    private var zones: String { folder.path + "/usr/share/zoneinfo" }
    private var localtime: String { etc + "/localtime" }
    private var files: TimeZoneFiles { TimeZoneFiles(folder: zones) }
    private let summer: Timestamp
    private let winter: Timestamp

    init() throws {
        folder = try TemporaryFolder()
        summer = try #require(Timestamp(iso8601: "2026-07-01T00:00:00Z"))
        winter = try #require(Timestamp(iso8601: "2026-01-01T00:00:00Z"))
        for name in Self.names + Self.names.map({ "posix/\($0)" }) + ["right/Europe/Berlin"] {
            try place("\(Self.system)/\(name)", at: "\(zones)/\(name)")
        }
        try place("\(Self.system)/zone1970.tab", at: zones + "/zone1970.tab")
        try link(zones + "/localtime", to: localtime)
        try link(zones + "/Europe/Busingen", to: "Berlin")
        try FileManager.default.createDirectory(atPath: etc, withIntermediateDirectories: true)
    }

    private func place(_ source: String, at path: String) throws {
        let parent = URL(fileURLWithPath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        let data = try Data(contentsOf: URL(fileURLWithPath: source))
        try data.write(to: URL(fileURLWithPath: path))
    }

    private func link(_ path: String, to target: String) throws {
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    private func find(_ variable: String? = nil) throws -> LocalTimeZone {
        try LocalTimeZone.find(variable, etc: etc, files: files)
    }

    /// Returns the hours by which a zone is ahead of UTC in winter and in summer.
    private func hours(_ zone: LocalTimeZone) -> [Int64] {
        [winter, summer].map { zone.rules.offset(at: $0) / 3_600_000 }
    }

    @Test(
        "Each form of the variable TZ gives its zone, and a name if there is one",
        arguments: [
            ("", [0, 0], "UTC"), (":", [0, 0], "UTC"), ("UTC", [0, 0], "UTC"),
            ("UTC0", [0, 0], "UTC"), ("<+00>0", [0, 0], "UTC"), ("Etc/UTC", [0, 0], "UTC"),
            ("Europe/Berlin", [1, 2], "Europe/Berlin"),
            (":Europe/Berlin", [1, 2], "Europe/Berlin"),
            ("posix/Europe/Berlin", [1, 2], "Europe/Berlin"),
            (":posix/Asia/Tokyo", [9, 9], "Asia/Tokyo"),
            ("Europe/Busingen", [1, 2], "Europe/Busingen"),
            ("FOLDER/Europe/Berlin", [1, 2], "Europe/Berlin"),
            (":FOLDER//posix/./America/New_York", [-5, -4], "America/New_York"),
            ("CET-1CEST,M3.5.0,M10.5.0/3", [1, 2], nil),
            (":EST5EDT,M3.2.0,M11.1.0", [-5, -4], nil), ("<+03>-3", [3, 3], "Etc/GMT-3"),
            ("JST-9", [9, 9], nil),
        ] as [(String, [Int64], String?)]
    )
    func variable(text: String, hours: [Int64], name: String?) throws {
        let zone = try find(text.replacing("FOLDER", with: zones))
        #expect(self.hours(zone) == hours)
        guard let name else {
            let failure = #expect(throws: LocalTimeZoneFailure.self) { try zone.name() }
            #expect(failure?.sentence.contains(text) == true, "\(failure?.sentence ?? "")")
            #expect(failure?.fix.contains("--zone ") == true)
            return
        }
        #expect(try zone.name().rawValue == name)
    }

    @Test(
        "A value of TZ that cannot be used is refused, and the refusal names it",
        arguments: [
            "Europe/Berln", "europe/berlin", "Berlin", "CET", "CET-1CEST", "CET-25", " ", "UTC ",
            "right/Europe/Berlin", "Europe", "../Berlin", "Europe/Berlin\n", "FOLDER/zone1970.tab",
            "/no/such/file", "/dev/zero", "/etc", "Europe/Berlin,", "CET-1,M3.5.0", "::UTC",
            "EST5EDT,J60,J300", "ẞ", String(repeating: "x", count: 5_000),
        ]
    )
    func unusable(text: String) throws {
        let failure = #expect(throws: LocalTimeZoneFailure.self) {
            try find(text.replacing("FOLDER", with: zones))
        }
        let sentence = try #require(failure).sentence
        #expect(sentence.contains("TZ=") && sentence.utf8.count < 400, "\(sentence)")
        #expect(!sentence.contains("\n"))
    }

    @Test("A link to a zone file gives the zone, whatever way it takes")
    func links() throws {
        let mount = folder.path + "/mnt/host/usr/share/zoneinfo"
        try place("\(Self.system)/Asia/Tokyo", at: mount + "/Asia/Tokyo")
        try link(etc + "/zones", to: zones)
        try link(etc + "/first", to: "second")
        try link(etc + "/second", to: zones + "/Asia/Tokyo")
        for (target, name) in [
            ("../usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"),
            (zones + "/Europe/Berlin", "Europe/Berlin"),
            (zones + "/posix/Europe/Berlin", "Europe/Berlin"),
            (zones + "//Europe/./Berlin", "Europe/Berlin"),
            (zones + "/Europe/../Asia/Tokyo", "Asia/Tokyo"),
            (zones + "/Europe/Busingen", "Europe/Busingen"), ("first", "Asia/Tokyo"),
            ("zones/Europe/Berlin", "Europe/Berlin"), (mount + "/Asia/Tokyo", "Asia/Tokyo"),
            (zones + "/Etc/UTC", "Etc/UTC"),
        ] {
            try link(localtime, to: target)
            let zone = try find()
            let found = try zone.name()
            #expect(found.rawValue == name && zone.rules == files.rules(of: found), "\(target)")
            // The variable can name the same link, and the zone that stands for it.
            for variable in [localtime, ":\(localtime)", "localtime"] {
                let same = try find(variable)
                #expect(same.rules == zone.rules)
                #expect(try same.name() == found)
            }
        }
    }

    @Test("A zone file without a name gives its rules, and the name of a zone with equal rules")
    func copies() throws {
        try place("\(Self.system)/Asia/Tokyo", at: localtime)
        #expect(hours(try find()) == [9, 9])
        #expect(try find().name().rawValue == "Asia/Tokyo")
        // A written name counts if its zone has the file's rules.
        try place(zones + "/Europe/Berlin", at: localtime)
        for (written, name) in [
            ("Europe/Busingen\n", "Europe/Busingen"), ("Asia/Tokyo\n", "Europe/Berlin"),
            ("No/Where\n", "Europe/Berlin"), ("", "Europe/Berlin"),
        ] {
            _ = try folder.write(written, to: "etc/timezone")
            #expect(hours(try find()) == [1, 2])
            #expect(try find().name().rawValue == name, "\(written)")
        }
        // No zone of this machine has these rules.
        try place("\(Self.system)/Africa/Cairo", at: localtime)
        #expect(hours(try find()) == [2, 3])
        #expect(throws: LocalTimeZoneFailure.self) { try find().name() }
    }

    @Test("Without the file, the written name counts, and without both the time is UTC")
    func missing() throws {
        #expect(try find().name() == .utc)
        _ = try folder.write("Europe/Berlin\n", to: "etc/timezone")
        #expect(try find().name().rawValue == "Europe/Berlin")
        #expect(hours(try find()) == [1, 2])
        _ = try folder.write("Europe/Berln\n", to: "etc/timezone")
        let failure = #expect(throws: LocalTimeZoneFailure.self) { try find() }
        #expect(failure?.sentence.contains("Europe/Berln") == true)
    }

    @Test(
        "A link or a file that is no zone is refused by name, even if a name is written beside it"
    )
    func broken() throws {
        _ = try folder.write("Europe/Berlin\n", to: "etc/timezone")
        for target in [zones + "/Europe/Nowhere", zones, "/dev/zero", "localtime", "/no/file"] {
            try link(localtime, to: target)
            let failure = #expect(throws: LocalTimeZoneFailure.self) { try find() }
            #expect(failure?.sentence.contains(target) == true, "\(failure?.sentence ?? "")")
        }
        for text in ["", "TZif2", "Europe/Berlin\n"] {
            try FileManager.default.removeItem(atPath: localtime)
            _ = try folder.write(text, to: "etc/localtime")
            #expect(throws: LocalTimeZoneFailure.self) { try find() }
        }
        // A machine without zone files: UTC needs none.
        try link(localtime, to: "/no/usr/share/zoneinfo/Etc/UTC")
        #expect(try find().name() == .utc)
    }

    @Test("Each zone file of the system can be used, except those that count leap seconds")
    func system() throws {
        let files = TimeZoneFiles()
        var count = 0
        for path in try FileManager.default.subpathsOfDirectory(atPath: files.folder) {
            let file = "\(files.folder)/\(path)"
            guard let bytes = TimeZoneFiles.content(file, limit: 64 * 1024),
                bytes.starts(with: "TZif".utf8)
            else { continue }
            count += 1
            #expect((TimeZoneRules(tzif: bytes) == nil) == path.hasPrefix("right/"), "\(path)")
        }
        #expect(count > 500)
    }
}
