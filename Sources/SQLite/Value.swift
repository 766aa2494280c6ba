/// A value bound to a statement's parameter.
package enum Value: Equatable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    /// Returns an integer value, or NULL for `nil`.
    package static func integer(_ value: Int64?) -> Value { value.map { .integer($0) } ?? .null }

    /// Returns a text value, or NULL for `nil`.
    package static func text(_ value: String?) -> Value { value.map { .text($0) } ?? .null }
}
