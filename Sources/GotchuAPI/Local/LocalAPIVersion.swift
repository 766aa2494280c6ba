/// The version headers with which the daemon and its clients check that they are compatible.
package enum LocalAPIVersion {
    /// The API's major version. A daemon and a client with different versions do not work together.
    package static let current = "1"

    /// The header that carries `current` on every reply.
    package static let header = "Gotchu-API"

    /// The header that carries the daemon's own version on every reply.
    package static let programHeader = "Gotchu-Version"

    /// The longest recording, in seconds.
    package static let maximumRecordingSeconds = 3600
}
