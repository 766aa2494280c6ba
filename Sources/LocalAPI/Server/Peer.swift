import CLinux
import Glibc
import NIOCore

/// The user and group at the other end of a connection, by the kernel's word (unix(7),
/// SO_PEERCRED).
package struct Peer: Hashable, Sendable {
    package let userID: UInt32
    /// The primary group; `nil` where the kernel tells the user alone.
    package let groupID: UInt32?

    package init(userID: UInt32, groupID: UInt32?) {
        self.userID = userID
        self.groupID = groupID
    }

    /// Asks the kernel about a connection to a Unix socket; `nil` of what is no socket.
    static func asked(of channel: any Channel) -> EventLoopFuture<Peer?>? {
        guard let provider = channel as? any SocketOptionProvider else { return nil }
        let option = NIOBSDSocket.Option(rawValue: CInt(SO_PEERCRED))
        let asked: EventLoopFuture<clinux_peer> = provider.unsafeGetSocketOption(
            level: .socket,
            name: option
        )
        return asked.map { Peer(userID: $0.uid, groupID: $0.gid) }
    }
}
