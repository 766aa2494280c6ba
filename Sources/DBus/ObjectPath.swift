import CDBus

/// The path of an object on the bus, such as `/org/bluez/hci0`.
package struct ObjectPath: Hashable, Sendable {
    package let text: String

    /// Creates a path that the D-Bus specification ("Valid Object Paths") allows; `nil` for others.
    package init?(_ text: String) {
        guard !text.utf8.contains(0), dbus_validate_path(text, nil) != 0 else { return nil }
        self.text = text
    }

    /// Creates a path from text that libdbus has already validated.
    init(validated text: String) {
        self.text = text
    }

    package static let root = ObjectPath(validated: "/")

    /// Returns true if `other` lies below this path.
    package func contains(_ other: ObjectPath) -> Bool {
        // Called for each advertisement: nothing is allocated.
        self == .root
            || other.text.hasPrefix(text)
                && other.text.utf8.dropFirst(text.utf8.count).first == UInt8(ascii: "/")
    }
}

extension ObjectPath: CustomStringConvertible {
    package var description: String { text }
}
