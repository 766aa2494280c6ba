package import BlueZ
import CLinux

extension ManagementSocket {
    /// Opens the kernel's, if it will deliver anything to this process.
    @Sendable package static func openIfPermitted() throws(ManagementFailure) -> ManagementSocket {
        guard clinux_has_net_admin() == 1 else { throw .noCapability }
        return try open()
    }
}
