import Foundation
import TestSupport
import Testing

/// Faults of one program's disk, clock and power, from outside: a library that is loaded into it
/// stands between it and the C library (see Tests/Faults). What ships knows nothing of it.
struct Faults: Sendable {
    private let folder: String
    private let name: String
    private let library: String

    /// - Parameter name: Of the program; its files in `folder` begin with it.
    init(_ name: String, in folder: String) async throws {
        self.folder = folder
        self.name = name
        library = try await Self.library.path()
    }

    /// What the program is started with.
    var environment: [String: String] {
        [
            "LD_PRELOAD": library, "FAULT_PLAN": plan, "FAULT_DISK": diskFile,
            "FAULT_CLOCK": clockFile,
        ]
    }

    var plan: String { "\(folder)/\(name).plan" }
    var diskFile: String { "\(folder)/\(name).disk" }
    var clockFile: String { "\(folder)/\(name).clock" }

    /// Adds what is to happen, in the order in which it can come.
    func plan(_ lines: [String]) throws {
        let before = (try? String(contentsOfFile: plan, encoding: .utf8)) ?? ""
        let text = before + lines.map { $0 + "\n" }.joined()
        try text.write(toFile: plan, atomically: true, encoding: .utf8)
    }

    /// What has not happened yet.
    var pending: String { (try? String(contentsOfFile: plan, encoding: .utf8)) ?? "" }

    func clear() { unlink(plan) }

    enum Disk: String, CaseIterable, Sendable {
        case full, readonly
    }

    /// Lets nothing be written any more, or with `nil` all again.
    func disk(_ fault: Disk?) throws {
        guard let fault else { return _ = unlink(diskFile) }
        try fault.rawValue.write(toFile: diskFile, atomically: true, encoding: .utf8)
    }

    /// Sets the program's wall clock.
    func clock(offBy seconds: Int) throws {
        try "\(seconds)".write(toFile: clockFile, atomically: true, encoding: .utf8)
    }

    /// Built when it is first needed, by the compiler that built the programs.
    private static let library = Library()

    private actor Library {
        private var building: Task<TemporaryFolder, any Error>?

        func path() async throws -> String {
            // SAFETY: owned by this actor; the first who asks starts it, everybody waits for it.
            let building = self.building ?? Task { try await Self.build() }
            self.building = building
            return "\(try await building.value.path)/faults.so"
        }

        private static func build() async throws -> TemporaryFolder {
            let place = try TemporaryFolder()
            let source = URL(fileURLWithPath: #filePath)
                .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("Faults/faults.c").path
            let compiler = try Program(
                "/usr/bin/env",
                ["clang", "-O1", "-shared", "-fPIC", "-o", "\(place.path)/faults.so", source]
            )
            let isBuilt = try await compiler.exitCode() == 0
            try #require(isBuilt, "\(compiler.text)")
            return place
        }
    }
}
