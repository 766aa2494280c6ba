/// The SHA-256 of a request's parsed parameters, to tell a resend from another request.
package struct Fingerprint: Hashable, Sendable {
    package static let length = 32

    package let bytes: [UInt8]

    /// - Returns: `nil` unless there are 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }
}
