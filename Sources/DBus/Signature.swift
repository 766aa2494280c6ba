import CDBus

/// The type of zero or more values, such as `sa{sv}`.
package struct Signature: Hashable, Sendable {
    package let text: String

    /// Creates a signature if the D-Bus specification ("Valid Signatures") allows it.
    package init?(_ text: String) {
        guard !text.utf8.contains(0), dbus_signature_validate(text, nil) != 0 else { return nil }
        self.text = text
    }

    /// Creates a signature from text that is valid by construction.
    init(validated text: String) {
        self.text = text
    }

    package static let byte = Signature(validated: "y")
    package static let int16 = Signature(validated: "n")
    package static let string = Signature(validated: "s")
    package static let objectPath = Signature(validated: "o")
    package static let variant = Signature(validated: "v")

    /// A Boolean that is true if it is the type of exactly one value.
    var isSingle: Bool { dbus_signature_validate_single(text, nil) != 0 }
}

extension Signature: CustomStringConvertible {
    package var description: String { text }
}
