import CLinux
import Glibc
import NIOCore

/// Who is at the other end of the socket, by the kernel's word (unix(7), SO_PEERCRED).
package struct Peer: Hashable, Sendable {
    package let userID: UInt32
    package let groupID: UInt32

    package init(userID: UInt32, groupID: UInt32) {
        self.userID = userID
        self.groupID = groupID
    }

    /// Asks the kernel about a connection.
    static func of(_ channel: any Channel) async throws -> Peer? {
        guard let provider = channel as? any SocketOptionProvider else { return nil }
        let option = NIOBSDSocket.Option(rawValue: CInt(SO_PEERCRED))
        let credentials: clinux_peer =
            try await provider
            .unsafeGetSocketOption(level: .socket, name: option).get()
        return Peer(userID: credentials.uid, groupID: credentials.gid)
    }
}
