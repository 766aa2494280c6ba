import Glibc

/// The default path of the daemon's socket.
package enum SocketPath {
    /// The packaged service's.
    package static let system = "/run/gotchu/gotchud.sock"

    /// An ordinary user's own daemon's; `nil` for root, and without a folder for such (XDG Base
    /// Directory Specification).
    ///
    /// - Parameter runtimeFolder: `XDG_RUNTIME_DIR`.
    package static func personal(runtimeFolder: String?) -> String? {
        guard geteuid() != 0, let runtimeFolder, runtimeFolder.hasPrefix("/") else { return nil }
        return runtimeFolder + "/gotchud.sock"
    }
}
