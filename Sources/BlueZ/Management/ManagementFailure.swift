import Glibc

/// The reason why events of the kernel's management socket cannot be received.
package enum ManagementFailure: Error, Equatable, Sendable {
    /// The process lacks CAP_NET_ADMIN; only a restart can grant it.
    case noCapability
    /// The kernel or the service's sandbox permits no Bluetooth socket; with an errno.
    case noSocket(Int32)
    /// The kernel does not answer on the socket.
    case timedOut
    /// The socket failed; with an errno, or 0 if it was closed.
    case lost(Int32)
    /// bluetoothd hears devices that this socket does not report.
    case silent

    /// The reason in words for a log.
    package var reason: String {
        switch self {
        case .noCapability: "no CAP_NET_ADMIN"
        case .noSocket(let number): "no Bluetooth socket (\(Self.text(number)))"
        case .timedOut: "the management socket does not answer"
        case .lost(0): "the management socket was closed"
        case .lost(let number): "the management socket broke (\(Self.text(number)))"
        case .silent: "the management socket is silent while bluetoothd hears"
        }
    }

    /// A Boolean that is true if a retry in the same process can help.
    package var isRetryable: Bool { self != .noCapability }

    private static func text(_ number: Int32) -> String { String(cString: strerror(number)) }
}
