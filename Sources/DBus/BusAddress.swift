import Glibc

/// The address of a bus, as the D-Bus specification writes it ("Server Addresses").
package struct BusAddress: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// The system bus, or the address in DBUS_SYSTEM_BUS_ADDRESS if that is set.
    package static var system: BusAddress {
        let override = getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
        return BusAddress(override ?? "unix:path=/run/dbus/system_bus_socket")
    }
}
