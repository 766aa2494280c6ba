/// What sightings come over. Advertisements and the scan itself are always bluetoothd's.
package enum RadioTransport: String, Codable, Sendable {
    /// The kernel's management socket: a fraction of the work for each advertisement.
    case management
    /// bluetoothd's signals on the system bus, while it discovers.
    case dbus
    /// The same and what an advertisement monitor matches, while the kernel refuses a scan.
    case monitor
}

/// Which transport is wanted.
package enum TransportPolicy: String, Equatable, Sendable {
    /// The best that is permitted, another one when it fails.
    case best
    /// The management socket and nothing else: that it cannot be had is a problem.
    case management
    /// D-Bus and nothing else.
    case dbus
    /// D-Bus, and no advertisement monitor beside discovery.
    case discovery

    var wantsManagement: Bool { self == .best || self == .management }
}
