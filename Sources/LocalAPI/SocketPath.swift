import Glibc

/// The default path of the daemon's socket.
package enum SocketPath {
    /// The socket of the packaged service.
    package static let system = "/run/gotchu/gotchud.sock"

    /// The socket of an ordinary user's own daemon; `nil` for root, and if there is no runtime
    /// folder (XDG Base Directory Specification).
    ///
    /// - Parameter runtimeFolder: `XDG_RUNTIME_DIR`.
    package static func personal(runtimeFolder: String?) -> String? {
        guard geteuid() != 0, let runtimeFolder, runtimeFolder.hasPrefix("/") else { return nil }
        return runtimeFolder + "/gotchud.sock"
    }
}
