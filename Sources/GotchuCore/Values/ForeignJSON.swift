package import FoundationEssentials

/// The decoding of documents that another program has sent.
package enum ForeignJSON {
    /// The largest magnitude of a number. All programs calculate exactly with such numbers, and
    /// sums of several thousand of them do not overflow.
    package static let numberLimit: Int64 = 1_000_000_000_000_000
    /// The longest number, in bytes: a `Double` in full precision is shorter.
    private static let lengthLimit = 40

    /// Decodes a document. Throws a `DecodingError` if any of its numbers is beyond the limit.
    package static func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        from json: Data
    ) throws -> Value {
        guard json.withUnsafeBytes(areNumbersAllowed) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "A number is too large.")
            )
        }
        return try JSONDecoder().decode(type, from: json)
    }

    private static func areNumbersAllowed(in json: UnsafeRawBufferPointer) -> Bool {
        var index = json.startIndex
        var isString = false
        while index < json.endIndex {
            let byte = json[index]
            // A decoder may take a document with zero bytes for UTF-16 or UTF-32.
            if byte == 0 { return false }
            if isString {
                if byte == UInt8(ascii: "\\") { index += 1 }
                isString = byte != UInt8(ascii: "\"")
                index += 1
            } else if isPart(ofNumber: byte) {
                let end = json[index...].firstIndex { !isPart(ofNumber: $0) } ?? json.endIndex
                guard isAllowed(json[index..<end]) else { return false }
                index = end
            } else {
                isString = byte == UInt8(ascii: "\"")
                index += 1
            }
        }
        return true
    }

    private static func isPart(ofNumber byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false  // SAFETY: every other byte ends a number.
        }
    }

    /// - Parameter text: A number, or letters of a word such as `true`.
    private static func isAllowed(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard text.count <= lengthLimit else { return false }
        guard let number = Double(String(decoding: text, as: UTF8.self)) else { return true }
        return number.magnitude <= Double(numberLimit)
    }
}
