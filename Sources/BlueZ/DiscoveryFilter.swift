import DBus

/// The argument of `Adapter1.SetDiscoveryFilter`.
///
/// A filter is always set, with `le` and an RSSI. Without such a filter, bluetoothd pauses 5 s
/// between scans, and newer versions report a level only if it has changed by 8 dB.
///
/// It includes our UUID if the version allows it. The kernel then drops other advertisements early;
/// this saves most among hundreds of devices. A device that sends our UUID only in service data,
/// not in its UUID list, is then not heard. Our own advertisements contain both. An iPhone sends
/// only the list, and in the background it finds only advertisements with the list.
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
