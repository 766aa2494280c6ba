package import FoundationEssentials

extension JSONEncoder {
    /// Writes members in the order of their names, and slashes as they are: the same value is
    /// always the same bytes.
    package static var canonical: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
