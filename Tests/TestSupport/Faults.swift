import Foundation

/// Faults of one program's disk, clock and power, from outside: a library that is loaded into it
/// stands between it and the C library (see Tests/Faults). What ships knows nothing of it.
package struct Faults: Sendable {
    private let folder: String
    private let name: String
    private let library: String

    /// - Parameter name: Of the program; its files in `folder` begin with it.
    package init(_ name: String, in folder: String) async throws {
        self.init(name, in: folder, library: try await Self.libraryPath())
    }

    /// - Parameter library: Where a copy of the library is that the program may read.
    package init(_ name: String, in folder: String, library: String) {
        self.folder = folder
        self.name = name
        self.library = library
    }

    /// Where the library is; it is built by the first who asks.
    package static func libraryPath() async throws -> String { try await library.path() }

    /// What the program is started with.
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

    /// Adds what is to happen, in the order in which it can come.
    package func plan(_ lines: [String]) throws {
        let before = (try? String(contentsOfFile: plan, encoding: .utf8)) ?? ""
        let text = before + lines.map { $0 + "\n" }.joined()
        try text.write(toFile: plan, atomically: true, encoding: .utf8)
    }

    /// What has not happened yet.
    package var pending: String { (try? String(contentsOfFile: plan, encoding: .utf8)) ?? "" }

    package func clear() { unlink(plan) }

    package enum Disk: String, CaseIterable, Sendable {
        case full, readonly
    }

    /// Lets nothing be written any more, or with `nil` all again.
    ///
    /// - Parameter part: Only to files whose path holds this.
    package func disk(_ fault: Disk?, of part: String = "") throws {
        guard let fault else { return _ = unlink(diskFile) }
        try "\(fault.rawValue) \(part)".write(toFile: diskFile, atomically: true, encoding: .utf8)
    }

    /// Lets the next sync fail, of a file whose path holds `part`.
    package func failSync(of part: String = "") throws {
        try "fail \(part)".write(toFile: syncFile, atomically: true, encoding: .utf8)
    }

    /// Whether no sync is still to fail.
    package var hasFailed: Bool { access(syncFile, F_OK) != 0 }

    /// Lets every sync take longer, or with `nil` as long as it takes.
    package func slowSync(milliseconds: Int?) throws {
        guard let milliseconds else { return _ = unlink(syncFile) }
        try "slow \(milliseconds)".write(toFile: syncFile, atomically: true, encoding: .utf8)
    }

    /// Sets the program's wall clock.
    package func clock(offBy seconds: Int) throws {
        try "\(seconds)".write(toFile: clockFile, atomically: true, encoding: .utf8)
    }

    /// Lets the program find that the machine was suspended.
    package func suspended(for seconds: Int) throws {
        try "\(seconds)".write(toFile: suspendedFile, atomically: true, encoding: .utf8)
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
