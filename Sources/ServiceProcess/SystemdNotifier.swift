import Glibc

/// Sends notifications to the service manager, with the protocol of sd_notify(3) but without
/// libsystemd.
///
/// Does nothing if no service manager has started the program.
package struct SystemdNotifier: Sendable {
    private let address: [UInt8]?

    /// - Parameter socket: The value of `NOTIFY_SOCKET`.
    package init(socket: String?) {
        address = socket.flatMap { text in
            var bytes = Array(text.utf8)
            // "@" stands for the NUL of an abstract socket address.
            if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
            let isKnown = bytes.first == 0 || bytes.first == UInt8(ascii: "/")
            return isKnown && bytes.count < 108 ? bytes : nil
        }
    }

    /// The notifier of this process.
    package static var current: SystemdNotifier {
        SystemdNotifier(socket: getenv("NOTIFY_SOCKET").map { String(cString: $0) })
    }

    /// Reports that start-up is complete.
    package func ready(status: String) { send("READY=1\nSTATUS=\(status)") }

    /// Sets the text that `systemctl status` shows.
    package func status(_ status: String) { send("STATUS=\(status)") }

    /// Reports the beginning of a reload. A service of the type `notify-reload` must send the time
    /// too.
    package func reloading() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        send("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)")
    }

    package func stopping() { send("STOPPING=1") }

    /// Reports that the process is alive.
    package func watchdog() { send("WATCHDOG=1") }

    /// The maximum interval between two calls of `watchdog()` (sd_watchdog_enabled(3)); `nil` if
    /// the service manager expects none.
    package static var watchdogInterval: Duration? {
        guard let text = getenv("WATCHDOG_USEC").map({ String(cString: $0) }),
            let microseconds = Int64(text), microseconds > 0
        else { return nil }
        if let owner = getenv("WATCHDOG_PID").map({ String(cString: $0) }), owner != "\(getpid())" {
            return nil
        }
        return .microseconds(microseconds)
    }

    private func send(_ message: String) {
        guard let address else { return }
        let descriptor = socket(
            AF_UNIX,
            Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue),
            0
        )
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: address) }
        let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path).map { $0 + address.count }
        withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { target in
                _ = message.withCString {
                    sendto(
                        descriptor,
                        $0,
                        strlen($0),
                        Int32(MSG_NOSIGNAL),
                        target,
                        socklen_t(length ?? 0)
                    )
                }
            }
        }
    }
}
