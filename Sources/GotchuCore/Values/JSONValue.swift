/// A value of JSON, without rounding: a number that is not whole stays apart.
package enum JSONValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    /// A number written as a whole one: no point, no exponent, within 64 bits.
    case integer(Int64)
    /// Any other number. Never rounded to an integer: `50.0` is not an amount.
    case otherNumber
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}
