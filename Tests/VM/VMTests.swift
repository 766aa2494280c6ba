import Foundation
import TestSupport
import Testing

/// Tests with a real kernel, a real bluetoothd and the programs of this build.
@Suite("In a virtual machine with Bluetooth")
struct VMTests {
    @Test("Each case of `Scenario` has a scenario file, and each scenario file has a case")
    func list() throws {
        let folder = Guest.folder.appendingPathComponent("guest/scenarios")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".py") && !$0.hasPrefix("_") }
        #expect(Set(files) == Set(Scenario.allCases.map { "\($0.rawValue).py" }))
    }

    @Test(
        "The scenario passes in the virtual machine",
        arguments: Guest.scenarios
    )
    func story(scenario: Scenario) async throws {
        let told = try await Guest.shared.result(of: scenario)
        if let failure = told.failure {
            let again = "Again: make vm STORY=\(scenario.rawValue) SEED=\(Guest.seed)"
            let evidence = Guest.evidence(for: scenario, in: told.folder)
            Issue.record("\(failure)\n\(evidence)\n\(again)")
        }
    }

    @Test("The Python tests of the simulated air pass")
    func air() async throws {
        let python = try Program(
            "/usr/bin/env",
            ["-C", Guest.folder.path, "/usr/bin/python3", "-B", "-m", "unittest", "discover"]
                + ["-s", "tests", "-t", "."]
        )
        let status = try await python.exitCode(within: .seconds(60))
        #expect(status == 0, "\(python.text)")
        #expect(python.text.contains("Ran "), "\(python.text)")
    }

    @Test("The program boot shows its usage if it gets no arguments")
    func usage() async throws {
        let boot = try Program(Guest.folder.appendingPathComponent("boot").path, [])
        #expect(try await boot.exitCode() == 64)
        #expect(boot.text.contains("usage: boot"))
    }

    @Test("The program boot refuses to run in a folder that the machine cannot see")
    func invisible() async throws {
        let boot = Guest.folder.appendingPathComponent("boot").path
        let folder = try TemporaryFolder()
        let program = try Program(
            "/usr/bin/env",
            ["-C", "/dev/shm", boot, "\(folder.path)/out", "/bin/true"]
        )
        #expect(try await program.exitCode() == 69)
        #expect(program.text.contains("cannot see /dev/shm"), "\(program.text)")
    }
}
