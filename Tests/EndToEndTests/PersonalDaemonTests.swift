import Foundation
import LocalAPI
import TestSupport
import Testing

/// A gotchud that an ordinary user starts without paths in a configuration.
@Suite(
    "A person's own daemon",
    .enabled(if: geteuid() == 0, "only root can become somebody else")
)
struct PersonalDaemonTests {
    private static let userID: UInt32 = 65001

    /// Starts a program as the ordinary user, with only these environment variables.
    private func start(
        _ name: String,
        _ arguments: [String] = [],
        environment: [String]
    ) throws -> Program {
        let user = ["--reuid=\(Self.userID)", "--regid=\(Self.userID)", "--clear-groups"]
        let program = Program.folder.appendingPathComponent(name).path
        return try Program(
            "/usr/bin/setpriv",
            user + ["/usr/bin/env", "--ignore-environment"] + environment + [program] + arguments
        )
    }

    @Test(
        "A user's daemon has its socket and its state in the user's folders",
        .enabled(if: access(SocketPath.system, F_OK) != 0, "gotchud runs as a service here")
    )
    func folders() async throws {
        let folder = try TemporaryFolder()
        chmod(folder.path, 0o711)
        let (home, run) = ("\(folder.path)/home", "\(folder.path)/run")
        for path in [home, run] {
            #expect(mkdir(path, 0o700) == 0 && chown(path, Self.userID, Self.userID) == 0)
        }
        let environment = ["HOME=\(home)", "XDG_RUNTIME_DIR=\(run)"]
        let absent = try start("gotchu-ctl", ["status"], environment: environment)
        #expect(try await absent.exitCode() == 69)
        #expect(absent.text.contains("no socket at \(SocketPath.system)"), "\(absent.text)")
        let air = ["--radio", "simulated:\(run)/air"]
        let daemon = try start("gotchud", air, environment: environment)
        try await eventually("the daemon listens; it said: \(daemon.text)") {
            daemon.text.contains("gotchud is listening socket=\(run)/gotchud.sock") ? true : nil
        }
        #expect(access("\(home)/.local/state/gotchu/journal", F_OK) == 0)
        let status = try start("gotchu-ctl", ["status"], environment: environment)
        #expect(try await status.exitCode() != 69, "\(status.text)")
        #expect(status.text.contains("adapter  simulated"), "\(status.text)")
    }

    @Test("A user's daemon without HOME refuses to start")
    func noHome() async throws {
        let daemon = try start("gotchud", environment: [])
        #expect(try await daemon.exitCode() == 78)
        #expect(daemon.text.contains("There is no HOME"), "\(daemon.text)")
    }
}
