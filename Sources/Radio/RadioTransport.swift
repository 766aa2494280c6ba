/// The transport of sightings. Advertisements and the scan itself are always bluetoothd's.
package enum RadioTransport: String, Codable, Sendable {
    /// The kernel's management socket: much less work for each advertisement.
    case management
    /// bluetoothd's signals on the system bus, while it discovers.
    case dbus
}
