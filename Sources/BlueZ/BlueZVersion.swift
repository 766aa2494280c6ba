/// The version of the running bluetoothd.
package struct BlueZVersion: Hashable, Comparable, Sendable {
    package let major: Int
    package let minor: Int

    package init(_ major: Int, _ minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// Reads the version from `Adapter1.Modalias`, such as `usb:v1D6Bp0246d0542`. Vendor 1D6B,
    /// product 0246 is BlueZ itself, and the four digits after `d` are major and minor (BlueZ,
    /// src/main.c). DeviceID in main.conf may replace the value: the version is then unknown.
    package init?(modalias: String) {
        let prefix = "usb:v1D6Bp0246d"
        let digits = modalias.dropFirst(prefix.count)
        guard modalias.hasPrefix(prefix), digits.utf8.count == 4,
            digits.utf8.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let number = Int(digits, radix: 16)
        else { return nil }
        self.init(number >> 8, number & 0xFF)
    }

    package static func < (left: BlueZVersion, right: BlueZVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }
}

extension BlueZVersion: CustomStringConvertible {
    package var description: String { "\(major).\(minor)" }
}
