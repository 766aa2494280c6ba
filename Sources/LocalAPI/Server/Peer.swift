import CLinux
import Glibc
import NIOCore

/// The user and group at the other end of a connection, as the kernel reports them (SO_PEERCRED in
/// unix(7), or its table of TCP connections).
package struct Peer: Hashable, Sendable {
    package let userID: UInt32
    /// The primary group; `nil` if the kernel reports only the user.
    package let groupID: UInt32?

    package init(userID: UInt32, groupID: UInt32?) {
        self.userID = userID
        self.groupID = groupID
    }

    /// Asks the kernel for the peer of a Unix socket's connection. Returns `nil` if the channel has
    /// no socket.
    static func query(of channel: any Channel) -> EventLoopFuture<Peer?>? {
        guard let provider = channel as? any SocketOptionProvider else { return nil }
        let option = NIOBSDSocket.Option(rawValue: CInt(SO_PEERCRED))
        let asked: EventLoopFuture<clinux_peer> = provider.unsafeGetSocketOption(
            level: .socket,
            name: option
        )
        return asked.map { Peer(userID: $0.uid, groupID: $0.gid) }
    }
}
