/// The name of a time zone, such as `Europe/Berlin` (IANA).
package struct TimeZoneName: Hashable, Sendable {
    package let rawValue: String

    package static let utc = TimeZoneName(trusted: "UTC")

    private init(trusted name: String) {
        rawValue = name
    }

    /// Accepts the characters of IANA names. Without `.`, the name cannot lead out of the folder of
    /// time zone files.
    package init?(_ text: String) {
        let isName = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                || (0x61...0x7A).contains(byte) || "_+-/".utf8.contains(byte)
        }
        guard isName, (1...64).contains(text.utf8.count), !text.hasPrefix("/") else { return nil }
        rawValue = text
    }
}
