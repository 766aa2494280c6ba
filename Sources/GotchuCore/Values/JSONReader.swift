/// A strict parser of one JSON object (RFC 8259): a request, or a stored body.
///
/// A `JSONDecoder` accepts `50.0` and `5e1` as integers. If a name is repeated, it uses the last
/// value. With amounts of money, both are a sender's mistake and must be rejected. Names are ASCII,
/// and texts have short runs of combining marks: other ones would take long to hash and compare.
package struct JSONReader {
    /// The limit of the nesting depth. Our own values are never nested as deep.
    private static let depthLimit = 8
    /// The limit of the nesting depth of other programs' documents.
    private static let foreignDepthLimit = 32
    /// The largest magnitude of a number in other programs' documents. All programs calculate
    /// exactly with such numbers, and sums of several thousand of them do not overflow.
    package static let numberLimit: Int64 = 1_000_000_000_000_000
    /// The longest of these numbers, in bytes: a `Double` in full precision is shorter.
    private static let numberLengthLimit = 40
    /// The maximum length of a name, in bytes. The longest are those of an issuer's claims.
    private static let nameLimit = 255

    private let bytes: [UInt8]
    /// True for a document of another program.
    private var isForeign = false
    private var checksText = true
    /// The maximum length of a text, in bytes.
    private var textLimit = Int.max
    /// The offset up to which the bytes are parsed.
    private var position = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Parses exactly one object.
    ///
    /// - Throws: `Malformed` unless `bytes` are one object whose names are all different.
    package static func object(_ bytes: [UInt8]) throws(Malformed) -> [String: JSONValue] {
        try parseWhole(bytes) { (reader) throws(Malformed) in try reader.object(depth: 1) }
    }

    /// Checks that bytes are one object, so that a `JSONDecoder` may decode them. It hashes all
    /// names.
    ///
    /// - Throws: `Malformed` unless `bytes` are one object whose names are all different and whose
    ///   numbers are at most `numberLimit`.
    static func check(
        _ bytes: [UInt8],
        checksText: Bool,
        textLimit: Int = .max
    ) throws(Malformed) {
        try parseWhole(bytes) { (reader) throws(Malformed) in
            (reader.isForeign, reader.checksText) = (true, checksText)
            reader.textLimit = textLimit
            _ = try reader.object(depth: 1)
        }
    }

    /// Parses exactly one object in which names may be repeated.
    ///
    /// - Returns: The members in the order of the text.
    /// - Throws: `Malformed` unless `bytes` are one object.
    package static func members(
        _ bytes: [UInt8]
    ) throws(Malformed) -> [(name: String, value: JSONValue)] {
        var members: [(name: String, value: JSONValue)] = []
        try parseWhole(bytes) { (reader) throws(Malformed) in
            try reader.members(depth: 1) {
                members.append(($0, $1))
                return true
            }
        }
        return members
    }

    private static func parseWhole<Value>(
        _ bytes: [UInt8],
        _ parse: (inout JSONReader) throws(Malformed) -> Value
    ) throws(Malformed) -> Value {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw Malformed(offset: 0) }
        var reader = JSONReader(bytes)
        reader.skipSpace()
        let value = try parse(&reader)
        reader.skipSpace()
        guard reader.next == nil else { throw reader.malformed }
        return value
    }

    /// The error for text that is not one JSON object, or that repeats a name.
    package struct Malformed: Error, Equatable {
        /// The offset in bytes at which the text is not valid.
        package let offset: Int
        /// The name that occurs twice, if that is the error.
        package var repeatedName: String?
        /// A Boolean that is true if the error is a name that is too long or not ASCII, or a text
        /// that is too long or has too many combining marks in a row.
        package var isText = false
    }

    private var malformed: Malformed { Malformed(offset: position) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func object(depth: Int) throws(Malformed) -> [String: JSONValue] {
        var object = [String: JSONValue](minimumCapacity: depth == 1 ? 8 : 0)
        try members(depth: depth) { object.updateValue($1, forKey: $0) == nil }
        return object
    }

    /// - Parameter add: Receives a member. Returns false if its name is repeated and must not be.
    private mutating func members(
        depth: Int,
        _ add: (String, JSONValue) -> Bool
    ) throws(Malformed) {
        try expect("{")
        skipSpace()
        if take("}") { return }
        repeat {
            skipSpace()
            let name = try string(isName: checksText).text
            skipSpace()
            try expect(":")
            guard add(name, try value(depth: depth)) else {
                throw Malformed(offset: position, repeatedName: name)
            }
            skipSpace()
        } while take(",")
        try expect("}")
    }

    private mutating func value(depth: Int) throws(Malformed) -> JSONValue {
        let limit = isForeign ? Self.foreignDepthLimit : Self.depthLimit
        guard depth < limit else { throw malformed }
        skipSpace()
        guard let next else { throw malformed }
        switch next {
        case UInt8(ascii: "\""): return .string(try text())
        case UInt8(ascii: "{"):
            return .object(try object(depth: depth + 1))
        case UInt8(ascii: "["):
            return .array(try array(depth: depth + 1))
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func array(depth: Int) throws(Malformed) -> [JSONValue] {
        try expect("[")
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return elements }
        repeat {
            elements.append(try value(depth: depth))
            skipSpace()
        } while take(",")
        try expect("]")
        return elements
    }

    private mutating func word(
        _ text: String,
        _ value: JSONValue
    ) throws(Malformed) -> JSONValue {
        guard bytes[position...].starts(with: text.utf8) else { throw malformed }
        position += text.utf8.count
        return value
    }

    private mutating func number() throws(Malformed) -> JSONValue {
        let start = position
        let isNegative = take("-")
        let first = position
        guard parseDigits() > 0, bytes[first] != UInt8(ascii: "0") || position == first + 1 else {
            throw malformed
        }
        let digits = bytes[first..<position]
        var isWhole = true
        if take(".") {
            isWhole = false
            guard parseDigits() > 0 else { throw malformed }
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("+") { _ = take("-") }
            guard parseDigits() > 0 else { throw malformed }
        }
        if isForeign, position - start > Self.numberLengthLimit { throw malformed }
        // Eighteen digits always fit in 64 bits.
        guard isWhole, digits.count <= 18 else {
            let text = String(decoding: bytes[start..<position], as: UTF8.self)
            let number = Double(text) ?? .infinity
            if isForeign, number.magnitude > Double(Self.numberLimit) { throw malformed }
            let value = isWhole ? Int64(text) : nil
            return value.map(JSONValue.integer) ?? .otherNumber(number)
        }
        let value = digits.reduce(Int64(0)) { 10 * $0 + Int64($1 - UInt8(ascii: "0")) }
        if isForeign, value > Self.numberLimit { throw malformed }
        return .integer(isNegative ? -value : value)
    }

    private mutating func parseDigits() -> Int {
        let start = position
        while let next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next) { position += 1 }
        return position - start
    }

    private mutating func text() throws(Malformed) -> String {
        let (text, isASCII) = try string()
        guard text.utf8.count <= textLimit, isASCII || !checksText || text.hasShortMarkRuns else {
            throw Malformed(offset: position, isText: true)
        }
        return text
    }

    /// - Parameter isName: True to stop at the first byte that is not of a name.
    private mutating func string(
        isName: Bool = false
    ) throws(Malformed) -> (text: String, isASCII: Bool) {
        try expect("\"")
        var text: [UInt8] = []
        var start = position
        var bits: UInt8 = 0
        while let byte = next {
            bits |= byte
            if isName, bits >= 0x80 || text.count + position - start > Self.nameLimit {
                throw Malformed(offset: position, isText: true)
            }
            switch byte {
            case UInt8(ascii: "\""):
                let rest = bytes[start..<position]
                position += 1
                let whole = String(decoding: text.isEmpty ? rest : text[...] + rest, as: UTF8.self)
                return (whole, bits < 0x80)
            case UInt8(ascii: "\\"):
                text += bytes[start..<position]
                position += 1
                let character = try escape().utf8
                bits |= character.first ?? 0
                text += character
                start = position
            case 0..<0x20: throw malformed
            default: position += 1
            }
        }
        throw malformed
    }

    private mutating func escape() throws(Malformed) -> String {
        guard let kind = next else { throw malformed }
        position += 1
        switch kind {
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
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw malformed }
        position += 4
        return unit
    }

    private mutating func skipSpace() {
        while let next, next == 0x20 || next == 0x09 || next == 0x0A || next == 0x0D {
            position += 1
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(Malformed) {
        guard take(character) else { throw malformed }
    }
}
