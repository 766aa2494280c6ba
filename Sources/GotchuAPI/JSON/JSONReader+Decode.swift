internal import FoundationEssentials
package import GotchuCore

extension JSONReader {
    /// Decodes a document of another program: an object whose names and texts may be hashed and
    /// compared, and whose numbers are bounded.
    ///
    /// - Throws: `Malformed` or `DecodingError`.
    package static func decode<Value: Decodable>(
        _ type: Value.Type,
        _ bytes: [UInt8]
    ) throws -> Value {
        try check(bytes)
        return try ForeignJSON.decode(type, from: Data(bytes))
    }
}
