import CDBus

/// The path of an object on the bus, such as `/org/bluez/hci0`.
package struct ObjectPath: Hashable, Sendable {
    package let text: String

    /// Accepts what the D-Bus specification ("Valid Object Paths") allows; `nil` for the rest.
    package init?(_ text: String) {
        guard !text.utf8.contains(0), dbus_validate_path(text, nil) != 0 else { return nil }
        self.text = text
    }

    /// For text that libdbus has validated already.
    init(validated text: String) {
        self.text = text
    }

    /// `/`
    package static let root = ObjectPath(validated: "/")

    /// Tells whether `other` lies below this path.
    package func contains(_ other: ObjectPath) -> Bool {
        // Asked for each advertisement: nothing is allocated.
        self == .root
            || other.text.hasPrefix(text)
                && other.text.utf8.dropFirst(text.utf8.count).first == UInt8(ascii: "/")
    }
}

extension ObjectPath: CustomStringConvertible {
    package var description: String { text }
}
