package import DBus

extension Value {
    /// The entries of a dictionary with string keys, with unwrapped values. The last of two entries
    /// with the same key counts.
    package var asProperties: [String: Value]? {
        guard case .dictionary(let entries, key: .string, value: _) = unwrapped else { return nil }
        var properties: [String: Value] = [:]
        for entry in entries {
            guard case .string(let key) = entry.key else { continue }
            properties[key] = entry.value.unwrapped
        }
        return properties
    }
}
