package import DBus
package import GotchuCore

/// An advertisement of an EID, exported as a D-Bus object that bluetoothd reads.
///
/// A `broadcast` cannot be connected to, and the kernel gives it a new private address each time it
/// is enabled. UUID list and service data take 18 of 31 bytes; nothing else is sent.
package struct LEAdvertisement: Sendable {
    package let eid: EID
    package let serviceUUID: UUID16
    package let path: ObjectPath

    /// The requested interval, in milliseconds. 100 ms gives a payer the three samples for a
    /// verdict in 0.3 s. BlueZ before 5.77 uses it only with experimental features on (not
    /// detectable here) and otherwise ignores it.
    static let intervalMilliseconds: UInt32 = 100

    /// - Parameter number: Distinguishes this object from all others of this process.
    package init?(_ eid: EID, serviceUUID: UUID16, number: UInt64) {
        guard let path = ObjectPath("/gotchu/advertisement\(number)") else { return nil }
        self.eid = eid
        self.serviceUUID = serviceUUID
        self.path = path
    }

    /// Creates the object to export.
    ///
    /// - Parameter released: Called on the connection's thread when a caller reports that the
    ///   advertisement was released. Check `sender`: anyone on the bus can call `Release`.
    package func object(released: @escaping @Sendable (_ sender: String?) async -> Void)
        -> ExportedObject
    {
        let uuid = serviceUUID.description
        let properties: [String: ExportedObject.Property] = [
            "Type": .constant(.string("broadcast")),
            "ServiceUUIDs": .constant(.strings([uuid])),
            "ServiceData": .constant(.properties([uuid: .bytes(eid.serviceData)])),
            "MinInterval": .constant(.uint32(Self.intervalMilliseconds)),
            "MaxInterval": .constant(.uint32(Self.intervalMilliseconds)),
            // Newer versions of BlueZ write the values that the controller chose, and log an error
            // if they cannot. Write-only: bluetoothd would take a readable value for a request.
            "TxPower": .writeOnly(.int16),
            "Instance": .writeOnly(.byte),
        ]
        let release = ExportedObject.Method { invocation throws(MethodFailure) in
            await released(invocation.sender)
            return []
        }
        return ExportedObject(interfaces: [
            BlueZ.advertisementInterface: ExportedObject.Interface(
                methods: ["Release": release],
                properties: properties
            )
        ])
    }
}

/// `org.bluez.LEAdvertisingManager1` of one adapter.
package struct LEAdvertisingManager: Sendable {
    package let adapter: ObjectPath
    private let peer: BlueZPeer

    package init(_ adapter: ObjectPath, of peer: BlueZPeer) {
        self.adapter = adapter
        self.peer = peer
    }

    /// Registers an exported advertisement; returns once it is on the air.
    ///
    /// - Throws: `notPermitted` if the adapter has no room for another; `alreadyExists`.
    package func register(_ path: ObjectPath) async throws(BlueZError) {
        try await call("RegisterAdvertisement", [.objectPath(path), .properties([:])])
    }

    /// Unregisters an advertisement. One that bluetoothd does not know counts as unregistered.
    package func unregister(_ path: ObjectPath) async throws(BlueZError) {
        do {
            try await call("UnregisterAdvertisement", [.objectPath(path)])
        } catch .doesNotExist {
        }
    }

    private func call(_ member: String, _ arguments: [Value]) async throws(BlueZError) {
        try await peer.call(adapter, BlueZ.advertisingManagerInterface, member, arguments)
    }
}
