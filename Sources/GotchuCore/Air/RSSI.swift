/// The strength of a received advertisement, in dBm.
package struct RSSI: Hashable, Comparable, Sendable {
    /// −127 … −1 or 1 … 20 dBm.
    package let dBm: Int

    /// Creates a level from a value that a controller can have measured.
    ///
    /// - Returns: `nil` for 127 ("not available", Core Specification Vol 4 Part E 7.7.65.2), for 0
    ///   (BlueZ's "unknown") and for anything above 20 or below −127 dBm. An unknown level never
    ///   counts as near.
    package init?(dBm: Int) {
        guard (-127...20).contains(dBm), dBm != 0 else { return nil }
        self.dBm = dBm
    }

    package static func < (left: RSSI, right: RSSI) -> Bool { left.dBm < right.dBm }
}

extension RSSI: CustomStringConvertible {
    package var description: String { "\(dBm) dBm" }
}
