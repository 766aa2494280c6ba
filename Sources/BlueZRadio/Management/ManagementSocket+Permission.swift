package import BlueZ
import CLinux

extension ManagementSocket {
    /// Opens the kernel's management socket if this process is permitted to receive from it.
    @Sendable package static func openIfPermitted() throws(ManagementFailure) -> ManagementSocket {
        guard clinux_has_net_admin() == 1 else { throw .noCapability }
        return try open()
    }
}
