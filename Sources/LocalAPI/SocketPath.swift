import Glibc

/// The default paths of the daemon's socket.
package enum SocketPath {
    /// The socket of the packaged service.
    package static let system = "/run/gotchu/gotchud.sock"

    /// Returns the socket path of a user's own daemon. Returns `nil` for root, or if there is no
    /// runtime folder (XDG Base Directory Specification).
    ///
    /// - Parameter runtimeFolder: `XDG_RUNTIME_DIR`.
    package static func personal(runtimeFolder: String?) -> String? {
        guard geteuid() != 0, let runtimeFolder, runtimeFolder.hasPrefix("/") else { return nil }
        return runtimeFolder + "/gotchud.sock"
    }
}
