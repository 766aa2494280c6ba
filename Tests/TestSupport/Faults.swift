import Foundation

/// Faults of one program's disk, clock and power. A preloaded library between the program and the C
/// library injects the faults (see Tests/Faults). Released programs do not contain the library.
package struct Faults: Sendable {
    private let folder: String
    private let name: String
    private let library: String

    /// - Parameter name: The program's name, with which its files in `folder` begin.
    package init(_ name: String, in folder: String) async throws {
        self.init(name, in: folder, library: try await Self.libraryPath())
    }

    /// - Parameter library: The path of a copy of the library that the program can read.
    package init(_ name: String, in folder: String, library: String) {
        self.folder = folder
        self.name = name
        self.library = library
    }

    /// Returns the path of the library. The first call builds the library.
    package static func libraryPath() async throws -> String { try await library.path() }

    /// The environment variables for the program.
    package var environment: [String: String] {
        [
            "LD_PRELOAD": library, "FAULT_PLAN": plan, "FAULT_DISK": diskFile,
            "FAULT_SYNC": syncFile, "FAULT_CLOCK": clockFile, "FAULT_SUSPENDED": suspendedFile,
        ]
    }

    package var plan: String { "\(folder)/\(name).plan" }
    package var diskFile: String { "\(folder)/\(name).disk" }
    private var syncFile: String { "\(folder)/\(name).sync" }
    package var clockFile: String { "\(folder)/\(name).clock" }
    private var suspendedFile: String { "\(folder)/\(name).suspended" }

    /// Adds faults to the plan, in the order in which they can occur.
    package func plan(_ lines: [String]) throws {
        let before = (try? String(contentsOfFile: plan, encoding: .utf8)) ?? ""
        let text = before + lines.map { $0 + "\n" }.joined()
        try text.write(toFile: plan, atomically: true, encoding: .utf8)
    }

    /// The planned faults that have not occurred yet.
    package var pending: String { (try? String(contentsOfFile: plan, encoding: .utf8)) ?? "" }

    package func clear() { unlink(plan) }

    package enum Disk: String, CaseIterable, Sendable {
        case full, readonly
    }

    /// Makes every write fail with a fault, or ends the fault if `nil`.
    ///
    /// - Parameter part: A part of the paths of the files concerned; empty for all files.
    package func disk(_ fault: Disk?, of part: String = "") throws {
        guard let fault else { return _ = unlink(diskFile) }
        try "\(fault.rawValue) \(part)".write(toFile: diskFile, atomically: true, encoding: .utf8)
    }

    /// Makes the next sync of a file whose path contains `part` fail.
    package func failSync(of part: String = "") throws {
        try "fail \(part)".write(toFile: syncFile, atomically: true, encoding: .utf8)
    }

    /// Makes every sync and every truncation fail, or ends the fault. A write reaches the file,
    /// but is neither certain nor can it be undone.
    ///
    /// - Parameter part: A part of the paths of the files concerned.
    package func disk(isBroken: Bool, of part: String) throws {
        guard isBroken else { return _ = unlink(syncFile) }
        try "broken \(part)".write(toFile: syncFile, atomically: true, encoding: .utf8)
    }

    /// A Boolean that is true if the planned sync failure has occurred, or none was planned.
    package var hasFailed: Bool { access(syncFile, F_OK) != 0 }

    /// Adds a delay to every sync, or removes the delay if `nil`.
    package func slowSync(milliseconds: Int?) throws {
        guard let milliseconds else { return _ = unlink(syncFile) }
        try "slow \(milliseconds)".write(toFile: syncFile, atomically: true, encoding: .utf8)
    }

    /// Shifts the program's wall clock by a number of seconds.
    package func clock(offBy seconds: Int) throws {
        try "\(seconds)".write(toFile: clockFile, atomically: true, encoding: .utf8)
    }

    /// Simulates a suspension of the machine for the program.
    package func suspended(for seconds: Int) throws {
        try "\(seconds)".write(toFile: suspendedFile, atomically: true, encoding: .utf8)
    }

    /// The library, built by clang at its first use.
    private static let library = Library()

    private actor Library {
        private var building: Task<TemporaryFolder, any Error>?

        func path() async throws -> String {
            // SAFETY: owned by this actor; the first call starts the task, and all calls await it.
            let building = self.building ?? Task { try await Self.build() }
            self.building = building
            return "\(try await building.value.path)/faults.so"
        }

        private static func build() async throws -> TemporaryFolder {
            let place = try TemporaryFolder()
            let source = URL(fileURLWithPath: #filePath)
                .deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("Faults/faults.c").path
            let compiler = try Program(
                "/usr/bin/env",
                ["clang", "-O1", "-shared", "-fPIC", "-o", "\(place.path)/faults.so", source]
            )
            guard try await compiler.exitCode() == 0 else {
                throw NeverHappened(description: "the library is built: \(compiler.text)")
            }
            return place
        }
    }
}
