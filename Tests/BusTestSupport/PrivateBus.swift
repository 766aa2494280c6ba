package import DBus
import Foundation
package import Logging
import Synchronization
import TestSupport

/// A real dbus-daemon for one test, in its own folder, with the system bus's limit on pending
/// replies.
package final class PrivateBus: Sendable {
    package let folder: String
    package let address: BusAddress
    private let process = Mutex<pid_t?>(nil)

    package struct StartFailure: Error {}

    package init() throws {
        folder = NSTemporaryDirectory() + "bus-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true
        )
        address = BusAddress("unix:path=\(folder)/bus")
        try Self.configuration(address.text).write(
            toFile: "\(folder)/bus.conf",
            atomically: true,
            encoding: .utf8
        )
        try start()
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Starts the daemon, and waits until it accepts connections.
    package func start() throws {
        var pipe: [Int32] = [0, 0]
        guard Glibc.pipe(&pipe) == 0 else { throw StartFailure() }
        defer { close(pipe[0]) }
        let pid = try Self.spawn(
            ["dbus-daemon", "--nofork", "--config-file=\(folder)/bus.conf", "--print-address=1"],
            output: pipe[1]
        )
        close(pipe[1])
        process.withLock { $0 = pid }
        // The daemon prints its address when it begins to listen.
        var byte: UInt8 = 0
        guard read(pipe[0], &byte, 1) == 1 else { throw StartFailure() }
    }

    /// Kills the daemon and waits until it has ended.
    package func stop() {
        guard let pid = process.withLock({ $0.take() }) else { return }
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
        unlink("\(folder)/bus")
    }

    package func connect(limits: Limits = Limits()) async throws -> Connection {
        try await Connection.open(address, limits: limits, logger: quietLogger)
    }

    private static func spawn(_ arguments: [String], output: Int32) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        closeOtherDescriptors(&actions)
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var pid: pid_t = 0
        guard posix_spawnp(&pid, "dbus-daemon", &actions, nil, &pointers, environ()) == 0 else {
            throw StartFailure()
        }
        return pid
    }

    /// An empty environment, so that no variable influences the daemon.
    private static func environ() -> [UnsafeMutablePointer<CChar>?] { [nil] }

    private static func configuration(_ address: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
          "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>custom</type>
          <listen>\(address)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/>
            <allow own="*"/>
          </policy>
          <limit name="max_replies_per_connection">128</limit>
        </busconfig>
        """
    }
}

/// A logger for code under test that drops all messages.
package let quietLogger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
