import Foundation
import TestSupport
import Testing

/// The proof on the real stack: a real kernel and bluetoothd, and the programs just built.
@Suite("In a virtual machine with Bluetooth")
struct VMTests {
    @Test("every scenario of the guest is told here")
    func list() throws {
        let folder = Guest.folder.appendingPathComponent("guest/scenarios")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".py") && !$0.hasPrefix("_") }
        #expect(Set(files) == Set(Scenario.allCases.map { "\($0.rawValue).py" }))
    }

    @Test("a payment story", .timeLimit(.minutes(12)), arguments: Scenario.allCases)
    func story(scenario: Scenario) async throws {
        let report = try await Guest.shared.report()
        #expect(report.failure == nil, "The stack did not come up.")
        let outcome = try #require(report.outcome(of: scenario), "It was not told.")
        if let failure = outcome.failure {
            Issue.record("\(failure)\n\(Guest.evidence(for: scenario))")
        }
    }

    @Test(
        "our packages under a real systemd: hardened, on the air, upgraded, and gone",
        .timeLimit(.minutes(20))
    )
    func service() async throws {
        let proof = try await Guest.serviceProof()
        #expect(proof.status == 0, "\(proof.text)")
        for name in [
            "policy_lets_it_on_the_air", "hang_is_a_restart", "what_is_away_is_waited_for",
            "purging_leaves_nothing",
        ] {
            #expect(proof.text.contains("passed: \(name)"), "\(proof.text)")
        }
    }

    @Test("the simulated air keeps its own rules")
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

    @Test("boot says what to do when it is not given enough")
    func usage() async throws {
        let boot = try Program(Guest.folder.appendingPathComponent("boot").path, [])
        #expect(try await boot.exitCode() == 64)
        #expect(boot.text.contains("usage: boot"))
    }
}
