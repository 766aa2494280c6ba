/// A value bound to a statement's parameter, or an array of values, with which one constant
/// statement handles any number of rows (`unnest`, `ANY`).
package enum Value: Equatable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
    case integers([Int64?])
    case texts([String?])
    case byteStrings([[UInt8]])

    /// Returns an integer value, or NULL for `nil`.
    package static func integer(_ value: Int64?) -> Value { value.map { .integer($0) } ?? .null }

    /// Returns a text value, or NULL for `nil`.
    package static func text(_ value: String?) -> Value { value.map { .text($0) } ?? .null }

    /// A Boolean that is true if the value is sent in binary format.
    ///
    /// A batch of payments has thousands of values in arrays: as text they would have to be quoted
    /// here and parsed twice by the server. Single values are sent as text, because the server may
    /// interpret them as another type, such as a timestamp.
    var isBinary: Bool {
        switch self {
        case .null, .integer, .text, .bytes: false
        case .integers, .texts, .byteStrings: true
        }
    }

    /// Appends the value in the format that is sent.
    ///
    /// - Returns: False if a text contains a NUL, which PostgreSQL cannot store.
    func append(to bytes: inout [UInt8]) -> Bool {
        switch self {
        case .null: true
        case .integer(let integer): bytes.append(utf8: String(integer))
        case .text(let text): bytes.append(utf8: text)
        case .bytes(let value): bytes.append(hex: value)
        case .integers(let integers):
            bytes.append(column: integers, of: .bigint) { bytes, integer in
                bytes.append(bigEndian: integer)
                return true
            }
        case .texts(let texts): bytes.append(column: texts, of: .text) { $0.append(utf8: $1) }
        case .byteStrings(let strings):
            bytes.append(column: strings, of: .bytea) { bytes, string in
                bytes.append(contentsOf: string)
                return true
            }
        }
    }

    var isNull: Bool { self == .null }
}

/// The server's type OIDs, which never change (`pg_type.dat`).
private enum ElementType: Int32 {
    case bytea = 17
    case bigint = 20
    case text = 25
}

private let digits = Array("0123456789abcdef".utf8)

extension [UInt8] {
    /// - Returns: True if PostgreSQL can store it (it contains no NUL).
    fileprivate mutating func append(utf8 text: String) -> Bool {
        var text = text
        return text.withUTF8 { utf8 in
            append(contentsOf: utf8)
            return !utf8.contains(0)
        }
    }

    fileprivate mutating func append(bigEndian integer: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: integer.bigEndian) { append(contentsOf: $0) }
    }

    /// Appends an array: one dimension, a flag for NULLs, the elements' type, their number and the
    /// first index; then each element with its length, which is -1 for NULL (`array_recv` in
    /// PostgreSQL's `arrayfuncs.c`).
    fileprivate mutating func append<Value>(
        column values: [Value?],
        of type: ElementType,
        _ encode: (inout [UInt8], Value) -> Bool
    ) -> Bool {
        append(bigEndian: Int32(values.isEmpty ? 0 : 1))
        append(bigEndian: Int32(1))
        append(bigEndian: type.rawValue)
        guard !values.isEmpty else { return true }
        append(bigEndian: Int32(values.count))
        append(bigEndian: Int32(1))
        var isGood = true
        for value in values {
            guard let value else {
                append(bigEndian: Int32(-1))
                continue
            }
            let start = count
            append(bigEndian: Int32(0))
            isGood = encode(&self, value) && isGood
            let length = UInt32(count - start - 4)
            for byte in 0..<4 { self[start + byte] = UInt8(length >> (24 - 8 * byte) & 0xFF) }
        }
        return isGood
    }

    /// Appends bytes in the `\x…` format (PostgreSQL manual, 8.4.1).
    fileprivate mutating func append(hex bytes: [UInt8]) -> Bool {
        append(contentsOf: "\\x".utf8)
        for byte in bytes {
            append(digits[Int(byte >> 4)])
            append(digits[Int(byte & 0xF)])
        }
        return true
    }
}
