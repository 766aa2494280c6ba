import DBus

/// The argument of `Adapter1.SetDiscoveryFilter`.
///
/// There is always a filter, always for `le` and with an RSSI: without one bluetoothd pauses 5 s
/// between scans, and newer versions report a level only if it has changed by 8 dB.
///
/// It includes our UUID if the version allows it: the kernel then drops the others before they cost
/// anything, which matters most among hundreds of devices. The price is that a device that sends
/// our UUID only as service data, not in its list, is not heard. Our own advertisements carry both;
/// an iPhone sends only the list, and in the background also finds only the list.
package struct DiscoveryFilter: Hashable, Sendable {
    package var serviceUUID: UUID16?
    /// The lowest level, in dBm. Reports below it, and those without a level, are dropped.
    package var floor: Int16

    /// The lowest possible level: no measured report is dropped.
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
