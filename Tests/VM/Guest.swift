import Foundation
import TestSupport

/// The virtual machines that run the scenarios, one machine after the other.
///
/// One machine runs all scenarios. If a scenario ends its machine, or does not end, only this
/// scenario fails, and the remaining scenarios run in another machine.
actor Guest {
    static let shared = Guest()

    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    /// The output folder. It has a folder per machine, which has a folder per scenario.
    static let output = folder.appendingPathComponent("../../.build/vm").standardizedFileURL

    /// The seed of all randomness in the machines. `GOTCHU_VM_SEED` sets it, to repeat a run.
    static let seed =
        ProcessInfo.processInfo.environment["GOTCHU_VM_SEED"].flatMap { UInt32($0) }
        ?? .random(in: 1...9_999)

    /// The scenarios to run: all, or those in `GOTCHU_VM_STORIES`, separated by commas or spaces.
    ///
    /// An unknown name ends the test run.
    static let scenarios: [Scenario] = {
        let named = ProcessInfo.processInfo.environment["GOTCHU_VM_STORIES"] ?? ""
        let names = named.split { $0 == "," || $0 == " " }.map(String.init)
        guard !names.isEmpty else { return Scenario.allCases }
        return names.map { name in
            guard let scenario = Scenario(rawValue: name) else {
                preconditionFailure("There is no story \(name) in Tests/VM/guest/scenarios.")
            }
            return scenario
        }
    }()

    private var run: Task<Void, any Error>?
    private var hasEnded = false
    private var outcomes: [Scenario: Outcome] = [:]

    /// The outcome of one scenario, and the folder with its machine's logs.
    struct Outcome: Sendable {
        var failure: String?
        let folder: URL
    }

    /// Returns the result of one scenario as soon as it is there. The first call starts the run of
    /// all scenarios.
    ///
    /// - Throws: The error that kept the machine from starting.
    func result(of scenario: Scenario) async throws -> Outcome {
        // SAFETY: owned by this actor, which starts it once; `boot` limits its time.
        let run = self.run ?? Task { try await runAll() }
        self.run = run
        while outcomes[scenario] == nil, !hasEnded {
            // SAFETY: the pause between two looks; the run's end ends the wait.
            try await Task.sleep(for: .milliseconds(200))
        }
        guard let outcome = outcomes[scenario] else {
            try await run.value
            throw NeverHappened(description: "\(scenario.rawValue) has run")
        }
        return outcome
    }

    private func runAll() async throws {
        defer { hasEnded = true }
        try? FileManager.default.removeItem(at: Self.output)
        var remaining = Self.scenarios
        var machine = 0
        while !remaining.isEmpty {
            machine += 1
            let folder = Self.output.appendingPathComponent("machine-\(machine)")
            let (status, text) = try await boot(remaining, into: folder)
            let report: GuestReport
            do {
                report = try Self.report(
                    in: folder,
                    else: "The virtual machine ended with \(status) and left no report.\n\(text)"
                )
            } catch {
                return fail(remaining, "\(error)", folder)
            }
            if let running = report.running.flatMap(Scenario.init) {
                let failure = "The virtual machine ended with \(status) in the middle of it."
                fail([running], failure, folder)
            }
            let last = remaining.last { outcomes[$0] != nil }
            remaining.removeAll { outcomes[$0] != nil }
            if report.failure == nil, last != nil { continue }
            // A failure outside of a scenario counts for all remaining scenarios, or for the last
            // scenario if none remain.
            let failure = report.failure ?? "The virtual machine began no story."
            fail(remaining.isEmpty ? last.map { [$0] } ?? [] : remaining, failure, folder)
            return
        }
    }

    private func fail(_ scenarios: [Scenario], _ failure: String, _ folder: URL) {
        for scenario in scenarios {
            outcomes[scenario] = Outcome(failure: failure, folder: folder)
        }
    }

    /// Runs a machine to its end. Adds the outcomes as the guest reports them.
    private func boot(
        _ scenarios: [Scenario],
        into folder: URL
    ) async throws -> (status: Int32, text: String) {
        let boot = try Program(
            Self.folder.appendingPathComponent("boot").path,
            ["--timeout", "\(1_200 * patience)", "--seed", "\(Self.seed)", folder.path]
                + [
                    "/usr/bin/env", "PYTHONPATH=\(Self.folder.path)", "/usr/bin/python3", "-B",
                    "-m", "guest",
                ]
                + [
                    "--programs", Program.folder.path, "--out", "/out", "--seed", "\(Self.seed)",
                ]
                + scenarios.map(\.rawValue)
        )
        while boot.isRunning {
            // SAFETY: the pause between two looks; `boot` limits its own time.
            try await Task.sleep(for: .milliseconds(200))
            // The books are verified after the last story, and a failure of them is its failure.
            learn(from: folder, besides: 1)
        }
        let status = try await boot.exitCode()
        learn(from: folder, besides: 0)
        return (status, boot.text)
    }

    /// Adds the outcomes in the guest's report.
    ///
    /// - Parameter newest: The number of the newest outcomes that are not final yet.
    private func learn(from folder: URL, besides newest: Int) {
        let report = try? Self.report(in: folder, else: "")
        for outcome in report?.scenarios.dropLast(newest) ?? [] {
            guard let scenario = Scenario(rawValue: outcome.name) else { continue }
            outcomes[scenario] = Outcome(failure: outcome.failure, folder: folder)
        }
    }

    private static func report(in folder: URL, else complaint: String) throws -> GuestReport {
        try GuestReport(of: folder.appendingPathComponent("results.json"), else: complaint)
    }

    /// The real seconds, times `patience`, to wait for the end of `boot`. `boot` itself ends its
    /// machine 60 s earlier.
    static let bootLimit = 1_260

    /// Returns the last lines of all logs of a scenario.
    static func evidence(for scenario: Scenario, in folder: URL) -> String {
        let own =
            (try? FileManager.default.contentsOfDirectory(
                atPath: folder.appendingPathComponent(scenario.rawValue).path
            )) ?? []
        let logs = own.sorted().map { "\(scenario.rawValue)/\($0)" }
        return (logs + ["gotchu-server.log", "bluetoothd.log", "air.log", "serial.log"])
            .map { "== \(folder.lastPathComponent)/\($0)\n\(tail(of: folder, $0))" }
            .joined(separator: "\n")
    }

    private static let evidenceLines = 15

    private static func tail(of folder: URL, _ log: String) -> String {
        let file = folder.appendingPathComponent(log)
        guard let data = try? Data(contentsOf: file) else { return "(none)" }
        return String(decoding: data, as: UTF8.self).split(separator: "\n")
            .suffix(evidenceLines).map { $0.prefix(400) }.joined(separator: "\n")
    }
}
