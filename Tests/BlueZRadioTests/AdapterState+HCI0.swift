import BlueZ
import DBus

extension AdapterState {
    /// The adapter of the tests, which can advertise.
    static func hci0(isPowered: Bool = true, isDiscovering: Bool = false) -> AdapterState {
        var adapter = AdapterState(path: ObjectPath("/org/bluez/hci0") ?? .root)
        adapter.isPowered = isPowered
        adapter.isDiscovering = isDiscovering
        adapter.canAdvertise = true
        return adapter
    }
}
