/// A value bound to a statement's parameter, or a column of them: one constant statement then
/// serves any number of rows (`unnest`, `ANY`).
package enum Value: Equatable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
    case integers([Int64?])
    case texts([String?])
    case byteStrings([[UInt8]])

    /// An integer, or NULL.
    package static func integer(_ value: Int64?) -> Value { value.map { .integer($0) } ?? .null }

    /// Text, or NULL.
    package static func text(_ value: String?) -> Value { value.map { .text($0) } ?? .null }

    /// Appends the server's text form, byte by byte: a batch of payments has thousands of these,
    /// and a text for each would be most of what writing it costs.
    func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: break
        case .integer(let integer): bytes.append(integer)
        case .text(let text): bytes.append(contentsOf: text.utf8)
        case .bytes(let value): bytes.append(hex: value, escape: [])
        case .integers(let integers): bytes.append(array: integers) { $0.append($1) }
        case .texts(let texts): bytes.append(array: texts) { $0.append(quoted: $1) }
        case .byteStrings(let strings):
            bytes.append(array: strings) { bytes, string in
                bytes.append(quote)
                bytes.append(hex: string, escape: [backslash])
                bytes.append(quote)
            }
        }
    }

    var isNull: Bool { self == .null }
}

private let quote = UInt8(ascii: "\"")
private let backslash = UInt8(ascii: "\\")
private let digits = Array("0123456789abcdef".utf8)

extension [UInt8] {
    fileprivate mutating func append(_ integer: Int64) {
        append(contentsOf: String(integer).utf8)
    }

    /// The `{a,b,NULL}` form (PostgreSQL manual, 8.15.2).
    fileprivate mutating func append<Value>(
        array values: [Value?],
        _ encode: (inout [UInt8], Value) -> Void
    ) {
        append(UInt8(ascii: "{"))
        for (index, value) in values.enumerated() {
            if index > 0 { append(UInt8(ascii: ",")) }
            if let value { encode(&self, value) } else { append(contentsOf: "NULL".utf8) }
        }
        append(UInt8(ascii: "}"))
    }

    /// Within an array every text is quoted, so that neither an empty one nor `NULL` means another.
    fileprivate mutating func append(quoted text: String) {
        append(quote)
        var text = text
        text.withUTF8 { utf8 in
            guard utf8.contains(where: { $0 == quote || $0 == backslash }) else {
                append(contentsOf: utf8)
                return
            }
            for byte in utf8 {
                if byte == quote || byte == backslash { append(backslash) }
                append(byte)
            }
        }
        append(quote)
    }

    /// The `\x…` form of bytes (PostgreSQL manual, 8.4.1).
    fileprivate mutating func append(hex bytes: [UInt8], escape: [UInt8]) {
        append(contentsOf: escape)
        append(contentsOf: "\\x".utf8)
        for byte in bytes {
            append(digits[Int(byte >> 4)])
            append(digits[Int(byte & 0xF)])
        }
    }
}
