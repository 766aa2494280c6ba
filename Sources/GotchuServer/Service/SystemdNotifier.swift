internal import CLinux
internal import Glibc

/// Tells systemd how the program is (sd_notify(3)), if systemd asked to be told.
struct SystemdNotifier: Sendable {
    private let socket: String

    /// - Returns: `nil` unless `NOTIFY_SOCKET` is set.
    init?() {
        guard let socket = getenv("NOTIFY_SOCKET") else { return nil }
        self.socket = String(cString: socket)
    }

    /// Sends `READY=1`, `STOPPING=1`, `STATUS=…`. Not being heard is no reason to fail.
    func send(_ state: String) {
        _ = clinux_notify(socket, state)
    }
}
