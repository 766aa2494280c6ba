package import FoundationEssentials

extension JSONEncoder {
    /// Writes members in the order of their names, and slashes as they are: the same value is
    /// always the same bytes.
    package static var canonical: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// A value of ours, which can always be encoded, as such bytes.
    package static func canonicalBytes(of value: some Encodable) -> [UInt8] {
        guard let data = try? canonical.encode(value) else {
            preconditionFailure("our own types can always be encoded")
        }
        return [UInt8](data)
    }
}
