internal import FoundationEssentials

extension JSONReader {
    /// Decodes a document of another program: an object whose numbers are bounded, and whose names
    /// and texts may be hashed and compared.
    ///
    /// - Parameters:
    ///   - checksText: False for the provider's documents: a payer's name in them may be any text,
    ///     and must not make the document unreadable.
    ///   - textLimit: The maximum length of a text, in bytes.
    /// - Throws: `Malformed` or `DecodingError`.
    package static func decode<Value: Decodable>(
        _ type: Value.Type,
        _ bytes: [UInt8],
        checksText: Bool = true,
        textLimit: Int = .max
    ) throws -> Value {
        try check(bytes, checksText: checksText, textLimit: textLimit)
        return try JSONDecoder().decode(type, from: Data(bytes))
    }
}
