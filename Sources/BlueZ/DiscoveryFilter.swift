import DBus

/// The argument of `Adapter1.SetDiscoveryFilter`.
///
/// There is always a filter, always for `le`, always with an RSSI: without one bluetoothd pauses 5
/// s between scans, and newer versions report a level only when it moved by 8 dB.
///
/// Our UUID is in it where the version allows: the kernel then drops strangers before they
/// cost anything, which matters most where hundreds of devices are about. The price is that a
/// device which carries our UUID only as service data, not in its list, is not heard. What is on
/// the air in our name carries both, an iPhone has only the list, and an iPhone in the background
/// finds only the list too.
package struct DiscoveryFilter: Hashable, Sendable {
    package var serviceUUID: UUID16?
    /// In dBm. Reports below it, and those without a level, are dropped.
    package var floor: Int16

    /// The lowest level there is: nothing that was measured is dropped.
    package static let lowestFloor: Int16 = -127

    package init(serviceUUID: UUID16, floor: Int16 = lowestFloor, quirks: BlueZQuirks) {
        self.serviceUUID = quirks.canFilterByUUID ? serviceUUID : nil
        self.floor = floor
    }

    var value: Value {
        var properties: [String: Value] = ["Transport": .string("le"), "RSSI": .int16(floor)]
        if let serviceUUID { properties["UUIDs"] = .strings([serviceUUID.description]) }
        return .properties(properties)
    }
}
