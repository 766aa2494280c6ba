/// A 16-bit UUID that the Bluetooth SIG assigned, such as FEED.
package struct UUID16: Hashable, Sendable, CustomStringConvertible {
    package let number: UInt16

    package init(_ number: UInt16) {
        self.number = number
    }

    /// All 128 bits in lowercase, as BlueZ formats every UUID (Core Specification, Vol 3 Part B
    /// 2.5.1).
    package var description: String {
        let digits = String(number, radix: 16)
        let padding = String(repeating: "0", count: 8 - digits.utf8.count)
        return "\(padding)\(digits)-0000-1000-8000-00805f9b34fb"
    }
}
