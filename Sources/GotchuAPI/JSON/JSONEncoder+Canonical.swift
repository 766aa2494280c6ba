package import FoundationEssentials

extension JSONEncoder {
    /// An encoder that sorts members by name and does not escape slashes. Equal values then have
    /// equal bytes.
    package static var canonical: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// Encodes a value of our own types like `canonical`, with each member on its own line.
    package static func pretty(_ value: some Encodable) -> [UInt8] {
        let encoder = canonical
        encoder.outputFormatting.insert(.prettyPrinted)
        guard let data = try? encoder.encode(value) else {
            preconditionFailure("our own types can always be encoded")
        }
        return [UInt8](data)
    }
}
