/// Finds where a text stops being JSON (RFC 8259), because the decoder does not tell.
struct JSONSyntax {
    /// Deeper nesting than this counts as an error.
    private static let depthLimit = 64

    private let bytes: [UInt8]
    private var position = 0

    private init(_ text: String) {
        bytes = Array(text.utf8)
    }

    private struct Stumbled: Error {}

    /// How many bytes of the text are the beginning of valid JSON; `nil` if all of it is valid.
    static func firstError(in text: String) -> Int? {
        var scanner = JSONSyntax(text)
        do throws(Stumbled) {
            try scanner.value(depth: 0)
            scanner.skipSpace()
            return scanner.position == scanner.bytes.count ? nil : scanner.position
        } catch {
            return scanner.position
        }
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func value(depth: Int) throws(Stumbled) {
        guard depth < Self.depthLimit else { throw Stumbled() }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): try members(close: "}", depth: depth, hasKeys: true)
        case UInt8(ascii: "["): try members(close: "]", depth: depth, hasKeys: false)
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: try number()
        }
    }

    private mutating func members(
        close: Unicode.Scalar,
        depth: Int,
        hasKeys: Bool
    ) throws(Stumbled) {
        position += 1
        skipSpace()
        if accept(close) { return }
        repeat {
            skipSpace()
            if hasKeys {
                try string()
                skipSpace()
                guard accept(":") else { throw Stumbled() }
            }
            try value(depth: depth + 1)
            skipSpace()
        } while accept(",")
        guard accept(close) else { throw Stumbled() }
    }

    private mutating func string() throws(Stumbled) {
        guard accept("\"") else { throw Stumbled() }
        while let byte = next, byte >= 0x20 {
            position += 1
            if byte == UInt8(ascii: "\"") { return }
            if byte == UInt8(ascii: "\\") { position += 1 }
        }
        position = min(position, bytes.count)
        throw Stumbled()
    }

    private mutating func word(_ word: StaticString) throws(Stumbled) {
        for expected in word.description.utf8 {
            guard next == expected else { throw Stumbled() }
            position += 1
        }
    }

    private mutating func number() throws(Stumbled) {
        let start = position
        while let byte = next, "+-.0123456789eE".utf8.contains(byte) { position += 1 }
        guard Double(String(decoding: bytes[start..<position], as: UTF8.self)) != nil else {
            position = start
            throw Stumbled()
        }
    }

    private mutating func accept(_ scalar: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: scalar) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = next, " \t\r\n".utf8.contains(byte) { position += 1 }
    }
}
