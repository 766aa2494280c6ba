import Foundation
import TestSupport
import Testing

/// A test of our packages under a real systemd, in a separate virtual machine.
@Suite("In a virtual machine with systemd")
struct ServiceTests {
    @Test(
        "Our packages can be installed, run, upgraded and purged under a real systemd"
    )
    func service() async throws {
        let proof = try await Self.proof()
        #expect(proof.status == 0, "\(proof.text)")
        for name in [
            "daemon_reaches_bluetoothd", "hang_is_a_restart", "server_waits_for_database",
            "purging_leaves_nothing",
        ] {
            #expect(proof.text.contains("passed: \(name)"), "\(proof.text)")
        }
    }

    /// Runs `service/proof.py` in the machine.
    ///
    /// - Returns: The exit status, and the output of `boot` and of `proof.py`.
    private static func proof() async throws -> (status: Int32, text: String) {
        let packages = try await DebianPackages.built()
        let folder = Guest.output.appendingPathComponent("../vm-service").standardizedFileURL
        try? FileManager.default.removeItem(at: folder)
        let boot = try Program(
            Guest.folder.appendingPathComponent("boot").path,
            ["--timeout", "\(1_200 * patience)", "--first", folder.path]
                + [Guest.folder.appendingPathComponent("service/start").path, packages.folder.path]
        )
        let status = try await boot.exitCode(within: .seconds(Guest.bootLimit))
        let proof = folder.appendingPathComponent("proof.log")
        let text = (try? String(contentsOf: proof, encoding: .utf8)) ?? "(no proof.log)"
        return (status, boot.text + text)
    }
}
