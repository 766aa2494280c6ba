/// The way that sightings come in. Advertisements and the scan itself are always bluetoothd's.
package enum RadioTransport: String, Codable, Sendable {
    /// The kernel's management socket: a fraction of the work for each advertisement.
    case management
    /// bluetoothd's signals on the system bus, while it discovers.
    case dbus
}
