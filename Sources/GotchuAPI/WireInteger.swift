internal import GotchuCore

/// An integer of the payment server's replies: a JSON number, or the same digits in a string. Its
/// magnitude is at most `JSONReader.numberLimit`.
///
/// The first server sent PostgreSQL `bigint` values as strings, and clients accept both. We always
/// write a number.
package struct WireInteger: Codable, Hashable, Sendable {
    package let value: Int64

    package init(_ value: Int64) {
        self.value = value
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            value = number
        } else if let text = try? container.decode(String.self), let number = Int64(text) {
            value = number
        } else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "An amount is a whole number of minor units."
            )
        }
        guard value.magnitude <= JSONReader.numberLimit else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "An amount is too large."
            )
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}
