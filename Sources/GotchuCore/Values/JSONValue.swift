/// A JSON value. No number is rounded to an integer: other numbers have their own case.
package enum JSONValue: Hashable, Sendable {
    case null
    case boolean(Bool)
    /// A number without a decimal point or exponent that fits in 64 bits.
    case integer(Int64)
    /// Any other number, such as `50.0`; infinite if it is too large. Never accepted as an amount.
    case otherNumber(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Creates an object of the members that are not `nil`.
    package static func members(_ members: [String: JSONValue?]) -> JSONValue {
        .object(members.compactMapValues(\.self))
    }

    /// The text of a string; `nil` for any other value.
    package var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The value of an integer; `nil` for any other value.
    package var integerValue: Int64? { if case .integer(let value) = self { value } else { nil } }
}

extension JSONValue: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let elements = try? container.decode([JSONValue].self) {
            self = .array(elements)
        } else if let members = try? container.decode([String: JSONValue].self) {
            self = .object(members)
        } else {
            self = .otherNumber((try? container.decode(Double.self)) ?? .infinity)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .string(let text): try container.encode(text)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        case .otherNumber:
            throw EncodingError.invalidValue(
                self,
                .init(codingPath: [], debugDescription: "Only whole numbers are written.")
            )
        }
    }
}
