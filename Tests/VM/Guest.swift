import Foundation
import TestSupport

/// One virtual machine that tells every story, booted once for all tests.
actor Guest {
    static let shared = Guest()

    /// What the machine may take; it needs about half of that on two slow cores.
    private static let limit: Duration = .seconds(560)

    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    /// Everything that the guest leaves behind: a folder a scenario, and the logs that they share.
    static let output = folder.appendingPathComponent("../../.build/vm").standardizedFileURL

    private var run: Task<GuestReport, any Error>?

    /// The report of the one run; whoever asks first starts it.
    func report() async throws -> GuestReport {
        if let run { return try await run.value }
        // SAFETY: owned by this actor, one in the life of the process; `boot` bounds it in time.
        let run = Task { try await Self.boot() }
        self.run = run
        return try await run.value
    }

    /// Installs our packages under a real systemd, in a machine of their own.
    ///
    /// - Returns: The exit status, and what the proof said.
    static func serviceProof() async throws -> (status: Int32, text: String) {
        let packages = try await DebianPackages.built()
        // One machine at a time: two would spoil each other's figures.
        _ = try? await shared.report()
        let folder = output.appendingPathComponent("service")
        let boot = try Program(
            Self.folder.appendingPathComponent("boot").path,
            ["--timeout", "\(limit.components.seconds)", "--first", folder.path]
                + [Self.folder.appendingPathComponent("service/start").path, packages.folder.path]
        )
        let status = try await boot.exitCode(within: limit + .seconds(120))
        let proof = folder.appendingPathComponent("proof.log")
        let text = (try? String(contentsOf: proof, encoding: .utf8)) ?? "(no proof.log)"
        return (status, boot.text + text)
    }

    private static func boot() async throws -> GuestReport {
        try? FileManager.default.removeItem(at: output)
        let boot = try Program(
            folder.appendingPathComponent("boot").path,
            ["--timeout", "\(limit.components.seconds)", output.path]
                + [
                    "/usr/bin/env", "PYTHONPATH=\(folder.path)", "/usr/bin/python3", "-B", "-m",
                    "guest",
                ]
                + ["--programs", Program.folder.path, "--out", "/out"]
        )
        let status = try await boot.exitCode(within: limit + .seconds(120))
        let results = output.appendingPathComponent("results.json")
        guard let data = try? Data(contentsOf: results) else {
            throw NoReport(status: status, said: boot.text, output: tail(of: "output.log"))
        }
        return try JSONDecoder().decode(GuestReport.self, from: data)
    }

    /// The machine ended without a report.
    struct NoReport: Error, CustomStringConvertible {
        let status: Int32
        let said: String
        let output: String

        var description: String {
            "The virtual machine ended with \(status) and left no report.\n\(said)\n\(output)"
        }
    }

    /// The ends of all logs that bear on a scenario.
    static func evidence(for scenario: Scenario) -> String {
        let own =
            (try? FileManager.default.contentsOfDirectory(
                atPath: output.appendingPathComponent(scenario.rawValue).path
            )) ?? []
        let logs = own.sorted().map { "\(scenario.rawValue)/\($0)" }
        return (logs + ["gotchu-server.log", "bluetoothd.log", "air.log"])
            .map { "== .build/vm/\($0)\n\(tail(of: $0))" }
            .joined(separator: "\n")
    }

    private static let evidenceLines = 15

    private static func tail(of log: String) -> String {
        let file = output.appendingPathComponent(log)
        guard let data = try? Data(contentsOf: file) else { return "(none)" }
        return String(decoding: data, as: UTF8.self).split(separator: "\n")
            .suffix(evidenceLines).map { $0.prefix(400) }.joined(separator: "\n")
    }
}
