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

    /// The server's text form; `nil` for NULL.
    var encoded: String? {
        switch self {
        case .null: nil
        case .integer(let integer): String(integer)
        case .text(let text): text
        case .bytes(let bytes): hex(bytes)
        case .integers(let integers): array(integers) { "\($0)" }
        case .texts(let texts): array(texts, quoted)
        case .byteStrings(let strings): array(strings) { quoted(hex($0)) }
        }
    }
}

/// The `{a,b,NULL}` form (PostgreSQL manual, 8.15.2).
private func array<Element>(_ elements: [Element?], _ encode: (Element) -> String) -> String {
    var text = "{"
    for (index, element) in elements.enumerated() {
        if index > 0 { text += "," }
        text += element.map(encode) ?? "NULL"
    }
    return text + "}"
}

/// Within an array every text is quoted, so that neither an empty one nor `NULL` means another.
private func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
        if scalar == "\"" || scalar == "\\" { quoted += "\\" }
        quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
}

/// The `\x…` form of bytes (PostgreSQL manual, 8.4.1).
private func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text = Array("\\x".utf8)
    for byte in bytes {
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 0xF)])
    }
    return String(decoding: text, as: UTF8.self)
}
