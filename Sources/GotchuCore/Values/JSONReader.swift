/// Reads one JSON object (RFC 8259), strictly: a request, or a stored body.
///
/// `JSONDecoder` would take `50.0` and `5e1` for integers and the last of two equal names; with
/// amounts of money either is a mistake of the sender that must not be guessed at.
package struct JSONReader {
    /// How deep arrays and objects may nest, which no member of ours does.
    private static let depthLimit = 8

    private var bytes: ArraySlice<UInt8>

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes[...]
    }

    /// Reads exactly one object.
    ///
    /// - Throws: `Malformed` unless `bytes` are one object whose names are all different.
    package static func object(_ bytes: [UInt8]) throws(Malformed) -> [String: JSONValue] {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw Malformed(offset: 0) }
        var reader = JSONReader(bytes)
        reader.skipSpace()
        let object = try reader.object(depth: 1)
        reader.skipSpace()
        guard reader.bytes.isEmpty else { throw reader.malformed }
        return object
    }

    /// The text is not one JSON object, or names a member twice.
    package struct Malformed: Error, Equatable {
        /// How many bytes from the start it stops making sense.
        package let offset: Int
        /// The name that stands there a second time, if that is what is wrong.
        package var repeatedName: String?
    }

    private var malformed: Malformed { Malformed(offset: bytes.startIndex) }

    private mutating func object(depth: Int) throws(Malformed) -> [String: JSONValue] {
        try expect("{")
        var members: [String: JSONValue] = [:]
        skipSpace()
        if take("}") { return members }
        repeat {
            skipSpace()
            let name = try string()
            skipSpace()
            try expect(":")
            let value = try value(depth: depth)
            guard members.updateValue(value, forKey: name) == nil else {
                throw Malformed(offset: bytes.startIndex, repeatedName: name)
            }
            skipSpace()
        } while take(",")
        try expect("}")
        return members
    }

    private mutating func value(depth: Int) throws(Malformed) -> JSONValue {
        guard depth < Self.depthLimit else { throw malformed }
        skipSpace()
        guard let first = bytes.first else { throw malformed }
        switch first {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"):
            _ = try object(depth: depth + 1)
            return .nested
        case UInt8(ascii: "["):
            try array(depth: depth + 1)
            return .nested
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func array(depth: Int) throws(Malformed) {
        try expect("[")
        skipSpace()
        if take("]") { return }
        repeat {
            _ = try value(depth: depth)
            skipSpace()
        } while take(",")
        try expect("]")
    }

    private mutating func word(
        _ text: String,
        _ value: JSONValue
    ) throws(Malformed) -> JSONValue {
        guard bytes.starts(with: text.utf8) else { throw malformed }
        bytes.removeFirst(text.utf8.count)
        return value
    }

    private mutating func number() throws(Malformed) -> JSONValue {
        let start = bytes
        _ = take("-")
        let digits = takeDigits()
        guard digits > 0 else { throw malformed }
        let whole = start.prefix(start.count - bytes.count)
        let first = whole.first == UInt8(ascii: "-") ? whole.dropFirst().first : whole.first
        guard digits == 1 || first != UInt8(ascii: "0") else { throw malformed }
        var isWhole = true
        if take(".") {
            isWhole = false
            guard takeDigits() > 0 else { throw malformed }
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("+") { _ = take("-") }
            guard takeDigits() > 0 else { throw malformed }
        }
        guard isWhole, let integer = Int64(String(decoding: whole, as: UTF8.self)) else {
            return .otherNumber
        }
        return .integer(integer)
    }

    private mutating func takeDigits() -> Int {
        let digits = bytes.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
        bytes.removeFirst(digits)
        return digits
    }

    private mutating func string() throws(Malformed) -> String {
        try expect("\"")
        var text: [UInt8] = []
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): text += try escape().utf8
            case 0..<0x20: throw malformed
            default: text.append(byte)
            }
        }
        throw malformed
    }

    private mutating func escape() throws(Malformed) -> String {
        switch bytes.popFirst() {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw malformed
        }
    }

    private mutating func unicodeEscape() throws(Malformed) -> String {
        var units = [try unit()]
        if UTF16.isLeadSurrogate(units[0]) {
            guard take("\\"), take("u") else { throw malformed }
            units.append(try unit())
        }
        guard let text = String(validating: units, as: UTF16.self) else { throw malformed }
        return text
    }

    private mutating func unit() throws(Malformed) -> UInt16 {
        let digits = bytes.prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw malformed }
        bytes.removeFirst(4)
        return unit
    }

    private mutating func skipSpace() {
        bytes = bytes.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard bytes.first == UInt8(ascii: character) else { return false }
        bytes.removeFirst()
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(Malformed) {
        guard take(character) else { throw malformed }
    }
}
