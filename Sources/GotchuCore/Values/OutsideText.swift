/// Text from outside, before it is hashed or compared.
///
/// Swift hashes and compares strings by canonical equivalence, and sorts each run of combining
/// marks for it. That takes the square of the run's length: 60 KB of marks take 0.7 s each time. So
/// text that people write may have short runs only. Where only ASCII is known, other bytes are
/// replaced by DEL, which no value of ours has, or in header values by U+FFFD.
extension String {
    /// The maximum number of combining marks in a row (UAX #15, 13: the Stream-Safe Text Format).
    /// No language needs as many.
    package static let markLimit = 30

    /// A Boolean that is true if all characters are ASCII.
    package var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }

    /// A Boolean that is true if no run of combining marks is longer than `markLimit`.
    var hasShortMarkRuns: Bool {
        let marks = combiningMarks
        var run = 0
        for scalar in unicodeScalars {
            let value = Int(scalar.value)
            let isMark = value < 64 * marks.count && marks[value / 64] >> (value % 64) & 1 == 1
            run = isMark ? run + 1 : 0
            guard run <= Self.markLimit else { return false }
        }
        return true
    }

    /// The text with DEL in place of each byte that is not ASCII.
    package var maskingNonASCII: String {
        isASCII ? self : String(decoding: utf8.map { $0 < 0x80 ? $0 : 0x7F }, as: UTF8.self)
    }

    /// A request's target in ASCII: each other byte is replaced by an escaped DEL. In a query that
    /// is not UTF-8 when it is unescaped, or has too many combining marks in a row, escapes of such
    /// bytes are replaced too. `nil` if nothing is replaced.
    package var maskedTarget: String? {
        guard utf8.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "%") }) else { return nil }
        let isReplaced = percentDecoded(self) == nil
        guard isReplaced || !isASCII else { return nil }
        let delete = Array("%7F".utf8)
        var target: [UInt8] = []
        var rest = Array(utf8)[...]
        var isQuery = false
        while let byte = rest.popFirst() {
            isQuery = isQuery || byte == UInt8(ascii: "?")
            if byte == UInt8(ascii: "%"), isQuery, isReplaced,
                let escaped = escapedByte(rest.prefix(2)), escaped >= 0x80
            {
                target += delete
                rest.removeFirst(2)
            } else if byte < 0x80 {
                target.append(byte)
            } else {
                target += delete
            }
        }
        return String(decoding: target, as: UTF8.self)
    }
}

extension StringProtocol {
    /// The text without the white space around it.
    package var trimmed: String {
        let start = firstIndex { !$0.isWhitespace } ?? endIndex
        let end = lastIndex { !$0.isWhitespace }.map { index(after: $0) } ?? start
        return String(self[start..<end])
    }
}

/// Returns the header fields of a message with U+FFFD in place of each run of bytes of a value that
/// are not ASCII; `nil` if there is none. The HTTP library replaces DEL by a space and drops it at
/// the ends of a value, so that two idempotency keys could become one.
package func maskedFields(
    _ fields: some Sequence<(name: String, value: String)>
) -> [(String, String)]? {
    guard fields.contains(where: { !$0.value.isASCII }) else { return nil }
    return fields.map { name, value in
        var bytes: [UInt8] = []
        var isInRun = false
        for byte in value.utf8 {
            if byte < 0x80 {
                bytes.append(byte)
            } else if !isInRun {
                bytes += "\u{FFFD}".utf8
            }
            isInRun = byte >= 0x80
        }
        return (name, String(decoding: bytes, as: UTF8.self))
    }
}

/// One bit for each scalar of the first two planes: 1 if it continues a run of combining marks. The
/// standard library's own look-up is ten times slower. The other planes have no such scalar.
private let combiningMarks: [UInt64] = {
    var marks = [UInt64](repeating: 0, count: 0x20000 / 64)
    for value in UInt32(0x300)..<0x20000 {
        // These are no marks, but are decomposed to marks.
        let isDecomposed = value == 0xF73 || value == 0xF75 || value == 0xF81
        guard let scalar = Unicode.Scalar(value),
            isDecomposed || scalar.properties.canonicalCombiningClass != .notReordered
        else { continue }
        marks[Int(value) / 64] |= 1 << (value % 64)
    }
    return marks
}()
