import CLinux
import NIOCore

/// The user at the other end of a TCP connection within this machine, as the kernel reports it.
enum TCPPeer {
    /// Returns the client's user; `nil` if the kernel reports none, because an address is not IPv4,
    /// or the client has closed its socket.
    ///
    /// The kernel is asked for this connection only, and answers at once, however many connections
    /// there are.
    static func userID(client: SocketAddress, server: SocketAddress) -> UInt32? {
        client.withSockAddr { from, _ in
            server.withSockAddr { to, _ in UInt32(exactly: clinux_tcp_user(from, to)) }
        }
    }
}
