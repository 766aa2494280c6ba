import Glibc
import NIOCore
import NIOPosix
import Testing

@testable import Screens

@Suite("The user at the other end of a TCP connection")
struct TCPPeerTests {
    /// A listening socket, and a client's connection to it.
    private struct Connection {
        let listener: any Channel
        let channel: any Channel
        let client: SocketAddress
        let server: SocketAddress

        init() async throws {
            let group = MultiThreadedEventLoopGroup.singleton
            listener = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0)
                .get()
            server = try #require(listener.localAddress)
            channel = try await ClientBootstrap(group: group).connect(to: server).get()
            client = try #require(channel.localAddress)
        }

        func close() async throws {
            try await channel.close()
            try await listener.close()
        }
    }

    @Test("The kernel names the user of a connection's client")
    func found() async throws {
        let one = try await Connection()
        #expect(TCPPeer.userID(client: one.client, server: one.server) == geteuid())
        try await one.close()
    }

    @Test("A connection with another address or port has no user, also if somebody listens there")
    func others() async throws {
        let (one, two) = (try await Connection(), try await Connection())
        let (client, server) = (one.client, one.server)
        let elsewhere = try SocketAddress(ipAddress: "127.0.0.2", port: try #require(server.port))
        for (client, server) in [
            (client, two.server), (two.client, server), (client, elsewhere), (elsewhere, server),
            (server, two.client), (server, server), (two.server, server),
        ] {
            #expect(TCPPeer.userID(client: client, server: server) == nil, "\(client) \(server)")
        }
        try await one.close()
        try await two.close()
    }

    @Test("A client that has closed its socket has no user, and least of all user 0")
    func gone() async throws {
        let one = try await Connection()
        try await one.channel.close()
        #expect(TCPPeer.userID(client: one.client, server: one.server) == nil)
        try await one.listener.close()
    }

    @Test("A connection with an IPv6 address has no peer")
    func otherFamily() throws {
        let client = try SocketAddress(ipAddress: "::1", port: 1)
        let server = try SocketAddress(ipAddress: "127.0.0.1", port: 7465)
        #expect(TCPPeer.userID(client: client, server: server) == nil)
        #expect(TCPPeer.userID(client: server, server: client) == nil)
    }
}
