/// Transfers whose names follow each other.
package struct Stretch: Equatable, Sendable {
    /// The name behind which it begins; `nil` for the first of all.
    package let start: TransferID?
    /// The last name in it.
    package let end: TransferID
    /// How many transfers it had when it was looked at.
    package let count: Int64
}
