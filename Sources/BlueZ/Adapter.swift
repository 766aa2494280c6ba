package import DBus

/// One adapter as last seen on the bus.
package struct AdapterState: Equatable, Sendable {
    package let path: ObjectPath
    /// `hci0`
    package let name: String
    /// The kernel's number for it, 0 for `hci0`; `nil` for a name of another kind.
    package let index: UInt16?
    package var address: String?
    package var isPowered = false
    /// The number of times that it was off and on again at once. bluetoothd tells its properties
    /// when it has nothing else to do, so all that is seen of that is that it says once more what
    /// it said.
    package var powerBlinks = 0
    package var isDiscovering = false
    /// A Boolean that is true while `LEAdvertisingManager1` is there; it comes and goes apart from
    /// the adapter.
    package var canAdvertise = false
    /// The number of advertisements that it has room for, registered ones included: the sum of
    /// `SupportedInstances`, which says how many are left, and `ActiveInstances` (BlueZ,
    /// src/advertising.c). It does not change while the adapter is there.
    package var advertisingInstances: Int?
    package var version: BlueZVersion?

    package init(path: ObjectPath) {
        self.path = path
        name = path.text.split(separator: "/").last.map(String.init) ?? ""
        index = name.hasPrefix("hci") ? UInt16(name.dropFirst(3)) : nil
    }

    package var quirks: BlueZQuirks { BlueZQuirks(version: version) }
}

/// The methods of `org.bluez.Adapter1` that scanning needs. bluetoothd keeps filter and discovery
/// per connection, and forgets both when the connection ends.
package struct Adapter: Sendable {
    package let path: ObjectPath
    private let peer: BlueZPeer

    package init(_ path: ObjectPath, of peer: BlueZPeer) {
        self.path = path
        self.peer = peer
    }

    /// Replaces this connection's filter. While it discovers, a filter that differs restarts the
    /// scan at once; an equal one does nothing (BlueZ, src/adapter.c, update_discovery_filter).
    package func setDiscoveryFilter(_ filter: DiscoveryFilter) async throws(BlueZError) {
        try await call("SetDiscoveryFilter", [filter.value])
    }

    /// - Throws: `inProgress` if this connection discovers already, and for any failure of the
    ///   kernel.
    package func startDiscovery() async throws(BlueZError) {
        try await call("StartDiscovery")
    }

    /// `inProgress` counts as stopped: bluetoothd has let go of our session before it answers that
    /// (bluez/bluez#807).
    package func stopDiscovery() async throws(BlueZError) {
        do {
            try await call("StopDiscovery")
        } catch .inProgress {
        }
    }

    /// Switches the adapter on or off, for every program on the machine.
    package func setPowered(_ isOn: Bool) async throws(BlueZError) {
        try await peer.call(
            path,
            BlueZ.propertiesInterface,
            "Set",
            [.string(BlueZ.adapterInterface), .string("Powered"), .variant(.boolean(isOn))]
        )
    }

    private func call(_ member: String, _ arguments: [Value] = []) async throws(BlueZError) {
        try await peer.call(path, BlueZ.adapterInterface, member, arguments)
    }
}
