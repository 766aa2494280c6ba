package import FoundationEssentials

extension JSONEncoder {
    /// An encoder that sorts members by name and does not escape slashes: the same value is always
    /// the same bytes.
    package static var canonical: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
