import TestSupport

/// Random changes of a JSON text.
enum Mutation {
    private static let pieces = [
        "null", "-1", "1.5", "1e400", "9223372036854775808", "\"\"", "[]", "{}", "true", "\u{0}",
        "\"\\ud800\"", "{\"a\":1,\"a\":2}",
    ]

    /// Replaces one value, or removes, doubles or changes one byte.
    static func mutated(_ text: String, using random: inout SeededGenerator) -> String {
        var bytes = Array(text.utf8)
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let starts = bytes.indices.filter { bytes[$0] == UInt8(ascii: ":") }
            guard let colon = starts.randomElement(using: &random) else { break }
            let ends = Set(",}]".utf8)
            let end = bytes[(colon + 1)...].firstIndex { ends.contains($0) } ?? bytes.endIndex
            let piece = pieces.randomElement(using: &random) ?? ""
            bytes.replaceSubrange((colon + 1)..<end, with: Array(piece.utf8))
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(bytes[index], at: index)
        default: bytes[index] = UInt8.random(in: 32...126, using: &random)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
