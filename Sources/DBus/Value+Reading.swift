/// Reads a value as an expected type. A value of another type is `nil`, never converted: data from
/// the bus is not trusted.
extension Value {
    package var asString: String? {
        guard case .string(let string) = unwrapped else { return nil }
        return string
    }

    package var asBool: Bool? {
        guard case .boolean(let boolean) = unwrapped else { return nil }
        return boolean
    }

    package var asObjectPath: ObjectPath? {
        guard case .objectPath(let path) = unwrapped else { return nil }
        return path
    }

    package var asBytes: [UInt8]? {
        guard case .bytes(let bytes) = unwrapped else { return nil }
        return bytes
    }

    package var asByte: UInt8? {
        guard case .byte(let number) = unwrapped else { return nil }
        return number
    }

    package var asInt16: Int16? {
        guard case .int16(let number) = unwrapped else { return nil }
        return number
    }

    /// The strings of an `as`.
    package var asStrings: [String]? {
        guard case .array(let elements, of: .string) = unwrapped else { return nil }
        return elements.compactMap(\.asString)
    }

    /// A property of a dictionary with string keys, without its variant; of duplicate keys the last
    /// counts.
    package subscript(property: String) -> Value? {
        guard case .dictionary(let entries, key: .string, value: _) = unwrapped else { return nil }
        return entries.last { $0.key == .string(property) }?.value.unwrapped
    }

    /// A Boolean that is true for a dictionary with string keys.
    package var hasProperties: Bool {
        guard case .dictionary(_, key: .string, value: _) = unwrapped else { return false }
        return true
    }

    /// The value inside any number of variants.
    package var unwrapped: Value {
        var value = self
        while case .variant(let inner) = value { value = inner }
        return value
    }
}
