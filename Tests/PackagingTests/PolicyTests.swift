import Foundation
import TestSupport
import Testing

/// Tests of our policy with a real dbus-daemon.
@Suite("The D-Bus policy")
struct PolicyTests {
    static let policy = "dbus-policy/org.gotchu.gotchud.conf"

    @Test("A bus starts with the policy")
    func parses() async throws {
        let said = try await bus(including: Repository.path(Self.policy))
        #expect(said.contains("unix:path="), "\(said)")
    }

    @Test("A bus does not start with a broken policy, so the test of our policy can fail")
    func brokenIsNoticed() async throws {
        let folder = try TemporaryFolder()
        let broken = try Repository.text(Self.policy)
            .replacing("<allow ", with: "<alow ")
        let said = try await bus(including: folder.write(broken, to: "broken.conf"))
        #expect(!said.contains("unix:path="))
        #expect(said.contains("alow"), "\(said)")
    }

    @Test("The policy allows one user to send to one name, and nothing else")
    func isNarrow() throws {
        let text = try Repository.text(Self.policy)
        let rules = text.matches(of: /<(allow|deny|policy)\s[^>]*>/).map { String($0.0) }
        #expect(
            rules == [#"<policy user="gotchu">"#, #"<allow send_destination="org.bluez"/>"#]
        )
    }

    /// Starts a bus with a policy, and stops the bus.
    ///
    /// - Returns: The output of the bus up to its address or its end.
    private func bus(including policy: String) async throws -> String {
        let folder = try TemporaryFolder()
        let configuration = try folder.write(
            """
            <busconfig>
              <type>system</type>
              <listen>unix:path=\(folder.path)/bus</listen>
              <policy context="default"><allow own="*"/></policy>
              <include>\(policy)</include>
            </busconfig>
            """,
            to: "bus.conf"
        )
        let daemon = try Program(
            "/usr/bin/env",
            ["dbus-daemon", "--config-file=\(configuration)", "--nofork", "--print-address"]
        )
        return try await eventually("dbus-daemon has started or ended") {
            let hasEnded = !daemon.isRunning
            let text = daemon.text
            return hasEnded || text.contains("unix:path=") ? text : nil
        }
    }
}
