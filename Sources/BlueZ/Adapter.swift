package import DBus

/// The state of an adapter as last reported on the bus.
package struct AdapterState: Equatable, Sendable {
    package let path: ObjectPath
    /// The adapter's name, such as `hci0`.
    package let name: String
    /// The kernel's index of the adapter, 0 for `hci0`; `nil` if the name has another form.
    package let index: UInt16?
    package var address: String?
    package var isPowered = false
    /// The number of times that the adapter went off and on again at once. bluetoothd reports
    /// properties only when idle, so such a change shows only as a repeated report of the same
    /// value.
    package var powerToggleCount = 0
    package var isDiscovering = false
    /// A Boolean that is true while `LEAdvertisingManager1` exists; it comes and goes independently
    /// of the adapter.
    package var canAdvertise = false
    /// The number of advertisements that the adapter has room for, including registered ones: the
    /// sum of `SupportedInstances`, which is the number left, and `ActiveInstances` (BlueZ,
    /// src/advertising.c). It does not change while the adapter exists.
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

    /// Replaces this connection's filter. During discovery, a different filter restarts the scan at
    /// once; an equal one does nothing (BlueZ, src/adapter.c, update_discovery_filter).
    package func setDiscoveryFilter(_ filter: DiscoveryFilter) async throws(BlueZError) {
        try await call("SetDiscoveryFilter", [filter.value])
    }

    /// - Throws: `inProgress` if this connection is already discovering, and for any failure of the
    ///   kernel.
    package func startDiscovery() async throws(BlueZError) {
        try await call("StartDiscovery")
    }

    /// Stops discovery. `inProgress` counts as stopped: bluetoothd has removed our session before
    /// it returns that error (bluez/bluez#807).
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
