import NIOCore
import Testing

@testable import Screens

@Suite("The user at the other end of a TCP connection")
struct TCPPeerTests {
    private static let head =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout"
        + " inode\n"
    private let peer: TCPPeer

    init() throws {
        let client = try SocketAddress(ipAddress: "127.0.0.1", port: 0xA1B2)
        let server = try SocketAddress(ipAddress: "127.0.0.1", port: 7465)
        peer = try #require(TCPPeer(client: client, server: server))
    }

    private func line(
        _ local: String = "0100007F:A1B2",
        _ remote: String = "0100007F:1D29",
        state: String = "01",
        uid: Int = 1001,
        inode: Int = 48213
    ) -> String {
        "   7: \(local) \(remote) \(state) 00000000:00000000 00:00000000 00000000  \(uid)        0 "
            + "\(inode) 1 0000000000000000 20 4 30 10 -1\n"
    }

    @Test("The user is found in the client's own line among other lines")
    func found() {
        let table =
            Self.head + line("0100007F:1D29", "00000000:0000", state: "0A", uid: 0)
            + line("0100007F:1D29", "0100007F:A1B2", uid: 0) + line(uid: 1001)
        #expect(peer.userID(in: table) == 1001)
    }

    @Test("A line with another address or port is not the client's line")
    func others() {
        for line in [
            line("0200007F:A1B2"), line("0100007F:A1B3"), line("0100007F:A1B2", "0100007F:1D2A"),
            line("0100007F:A1B2", "0A00007F:1D29"),
        ] { #expect(peer.userID(in: Self.head + line) == nil) }
    }

    @Test("A client that has closed its socket has no user, although the table lists user 0")
    func gone() {
        for state in ["06", "04", "05", "08", "0B", "07"] {
            #expect(peer.userID(in: Self.head + line(state: state, uid: 0)) == nil, "\(state)")
        }
        #expect(peer.userID(in: Self.head + line(uid: 0, inode: 0)) == nil)
        // A line with an open socket of user 0 is root's.
        #expect(peer.userID(in: Self.head + line(uid: 0)) == 0)
    }

    @Test("A connection with an IPv6 address has no peer")
    func otherFamily() throws {
        let client = try SocketAddress(ipAddress: "::1", port: 1)
        let server = try SocketAddress(ipAddress: "127.0.0.1", port: 7465)
        #expect(TCPPeer(client: client, server: server) == nil)
    }

    @Test("A malformed table gives no user")
    func malformed() {
        for table in ["", Self.head, Self.head + "   7: 0100007F:A1B2 0100007F:1D29 01\n", "\n\n"] {
            #expect(peer.userID(in: table) == nil)
        }
    }
}
