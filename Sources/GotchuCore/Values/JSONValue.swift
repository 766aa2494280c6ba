/// The value of a member. Requests and stored bodies are flat: an object of these.
package enum JSONValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    /// A number written as a whole one: no point, no exponent, within 64 bits.
    case integer(Int64)
    /// Any other number. Never rounded to an integer: `50.0` is not an amount.
    case otherNumber
    case string(String)
    /// An array or an object.
    case nested
}
