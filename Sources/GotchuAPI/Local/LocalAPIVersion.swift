/// The version headers by which the two ends of the daemon's socket recognize each other.
package enum LocalAPIVersion {
    /// The contract's major version. Ends with different ones do not talk to each other.
    package static let current = "1"

    /// The header that carries `current` on every reply.
    package static let header = "Gotchu-API"

    /// The header that carries the daemon's own version on every reply.
    package static let programHeader = "Gotchu-Version"

    /// The longest recording, in seconds.
    package static let longestRecordingSeconds = 3600
}
