internal import FoundationEssentials

extension JSONReader {
    /// Decodes a document of another program: an object whose numbers are bounded, and whose names
    /// and texts may be hashed and compared.
    ///
    /// - Parameters:
    ///   - checksText: False for a document that must not be refused for its texts, because it is
    ///     also about others than those who wrote them.
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
