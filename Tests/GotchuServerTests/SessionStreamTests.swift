import Glibc
import GotchuCore
import HTTPTypes
import HummingbirdCore
import LedgerTestSupport
import Logging
import NIOCore
import NIOPosix
import Payments
import Synchronization
import TestSupport
import Testing

@testable import GotchuServer
@testable import Ledger

/// Tests of streams on the server's real connections, with small buffers.
@Suite("A session's stream")
struct SessionStreamTests {
    private let feed = ChangeFeed()

    @Test("A session's stream ends with its session, and its connection can be reused")
    func alone() async throws {
        try await withStream { server, client in
            for version: Int64 in [2, 3] { feed.publish(Cast.record(version: version)) }
            feed.publish(Cast.record(version: 4, .cancelled))
            try await client.read(to: "\r\n0\r\n\r\n")
            #expect(client.versions.last == 4)
            #expect(server.isActive && feed.watcherCount == 0)
            try await client.ask()
            try await eventually("the stream is open") { feed.watcherCount == 1 ? true : nil }
            feed.publish(Cast.record(version: 5))
            try await eventually("version 5 arrives") { client.versions.last == 5 ? true : nil }
        }
    }

    @Test("The end of a stream is sent once, even if a change arrives during its last write")
    func reentrance() async throws {
        try await withStream { server, client in
            try await server.eventLoop.submit { [feed] in
                let hook = FirstFlushHook { feed.publish(Cast.record(version: 3, .cancelled)) }
                try server.pipeline.syncOperations.addHandler(hook, position: .first)
            }.get()
            feed.publish(Cast.record(version: 2, .cancelled))
            try await client.read(to: "0\r\n\r\n")
            #expect(client.versions == [2])
            #expect(client.text.ranges(of: "0\r\n\r\n").count == 1, "\(client.text)")
        }
    }

    @Test("A request that arrives during a stream is answered after the stream has ended")
    func alreadyAnswered() async throws {
        try await withStream { _, client in
            try await client.ask()
            feed.publish(Cast.record(version: 2))
            try await client.channel.setOption(.autoRead, value: true).get()
            try await eventually("version 2 arrives") { client.versions == [2] ? true : nil }
            #expect(client.replyCount == 1, "\(client.text)")
            feed.publish(Cast.record(version: 3, .cancelled))
            try await eventually("a second reply begins") { client.replyCount == 2 ? true : nil }
        }
    }

    @Test("A stream is released once its connection is closed")
    func gone() async throws {
        try await withStream { _, client in
            #expect(feed.watcherCount == 1)
            // The client closes with unread data, so the kernel resets the connection.
            feed.publish(Cast.record(version: 2))
            try await client.channel.close()
            try await eventually("no stream is open") {
                feed.publish(Cast.record(version: .max))
                return feed.watcherCount == 0 ? true : nil
            }
        }
    }

    @Test("A stream is released even if its client resets the connection while the stream starts")
    func reset() async throws {
        for delay in 0..<200 {
            try await withStream(awaited: false) { server, client in
                try await client.reset(after: .microseconds(20 * delay))
                try await server.closeFuture.get()
            }
        }
        try await eventually("no stream is open") { feed.watcherCount == 0 ? true : nil }
    }

    @Test(
        "A stream buffers a limited amount for a slow reader, and then sends the newest state"
    )
    func slow() async throws {
        try await withStream { server, client in
            try await fill(server)
            let held = try await server.getOption(.bufferedWritableBytes).get()
            #expect((32_768..<66_560).contains(held), "\(held) bytes")
            feed.publish(Cast.record(version: 10_001, .cancelled))
            try await client.read(to: "0\r\n\r\n")
            let versions = client.versions
            #expect(versions.count < 9_000 && versions.last == 10_001)
            #expect(zip(versions, versions.dropFirst()).allSatisfy { $0 < $1 })
        }
    }

    @Test("A stream whose client reads nothing is closed when the server stops")
    func stop() async throws {
        try await withStream { server, _ in
            try await fill(server)
            server.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            try await eventually("the connection is closed") { server.isActive ? nil : true }
        }
    }

    @Test("A stream stays open while its client reads slowly, and is closed after the last read")
    func neverRead() async throws {
        // The write limit is longer than a read takes, even on a busy machine.
        try await withStream(writeLimit: .seconds(4 * Int64(patience))) { server, client in
            for version in 2...10_000 where server.isWritable {
                feed.publish(Cast.record(version: Int64(version)))
                try await server.eventLoop.submit {}.get()
            }
            // The client reads a part of the data at a time, so the stream stays open.
            for _ in 0..<4 {
                let left = try await server.getOption(.bufferedWritableBytes).get()
                try await eventually("the kernel has accepted more") {
                    client.channel.read()
                    let now = try await server.getOption(.bufferedWritableBytes).get()
                    return now < left ? true : nil
                }
                #expect(server.isActive)
            }
            let start = ContinuousClock.now
            try await eventually("the connection is closed") { server.isActive ? nil : true }
            #expect(ContinuousClock.now - start < .seconds(20 * patience))
        }
        try await eventually("no stream is open") { feed.watcherCount == 0 ? true : nil }
    }

    /// Publishes enough changes to fill all buffers between the server and a client that does not
    /// read.
    private func fill(_ server: any Channel) async throws {
        for version in 2...10_000 {
            feed.publish(Cast.record(version: Int64(version)))
            try await server.eventLoop.submit {}.get()
        }
        #expect(!server.isWritable)
    }

    /// Opens a connection with a stream of the session from version 1 on, and runs `body` with it.
    private func withStream(
        writeLimit: TimeAmount = WriteDeadline.defaultLimit,
        awaited: Bool = true,
        _ body: (_ server: any Channel, _ client: StreamClient) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let front = HTTPConnector(
            responder: { [feed] _, _ in
                let watch = try feed.watch(RecordID(Cast.sessions[0]), by: "payee")
                let body = ResponseBody { writer in
                    let writer = try #require(writer as? ReplyBody)
                    writer.stream = SessionStream(
                        watch,
                        access: TokenAccess(
                            login: Login(user: Cast.users[0]),
                            endsAt: .now.advanced(by: .seconds(600)),
                            clock: { .now }
                        ),
                        session: Cast.session(version: 1),
                        desk: nil
                    )
                }
                return Response(status: .ok, body: body)
            },
            connections: ConnectionCounter(limit: 1, exempt: TrustedProxies()),
            metrics: RequestMetrics(),
            logger: logger,
            writeLimit: writeLimit
        )
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelOption(.socketOption(.so_sndbuf), value: 4_096)
            .bind(host: "127.0.0.1", port: 0) { front.setup(channel: $0, logger: logger) }
        try await listener.executeThenClose { accepted in
            let port = try #require(listener.channel.localAddress?.port)
            let client = try await StreamClient(port: port)
            defer { client.channel.close(promise: nil) }
            try await client.ask()
            for try await server in accepted {
                if awaited {
                    try await eventually("a stream is open") { feed.watcherCount == 1 ? true : nil }
                }
                try await body(server.channel, client)
                break
            }
        }
    }
}

/// A client that reads only on demand.
private struct StreamClient {
    let channel: any Channel
    private let received = ReceivedText()

    init(port: Int) async throws {
        channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.autoRead, value: false)
            .channelOption(.socketOption(.so_rcvbuf), value: 4_096)
            .channelInitializer { [received] in $0.pipeline.addHandler(received) }
            .connect(host: "127.0.0.1", port: port).get()
    }

    /// All text that has arrived so far.
    var text: String { received.text.withLock { $0 } }

    /// The versions of the events that have arrived so far.
    var versions: [Int] {
        text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("id: ") }
            .compactMap { Int($0.dropFirst(4)) }
    }

    /// The number of replies that have begun.
    var replyCount: Int { text.ranges(of: "HTTP/1.1 200").count }

    func ask() async throws {
        try await channel.writeAndFlush(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
    }

    /// Resets the connection, so that the server gets an error.
    func reset(after delay: Duration) async throws {
        // SAFETY: each delay ends at another moment of the stream's start; no event marks these.
        try await Task.sleep(for: delay)
        let now = linger(l_onoff: 1, l_linger: 0)
        try await #require(channel as? any SocketOptionProvider).setSoLinger(now).get()
        try await channel.close()
    }

    /// Reads until the text ends with `end`.
    func read(to end: String) async throws {
        try await channel.setOption(.autoRead, value: true).get()
        try await eventually("\(end.debugDescription) arrives") { text.hasSuffix(end) ? true : nil }
    }
}

/// A handler that runs an action during the first flush and reports a change of writability. It
/// sends all writes of that time together, in the event loop's next turn.
private final class FirstFlushHook: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private var action: (() -> Void)?
    private var isHolding = false

    init(_ action: @escaping () -> Void) {
        self.action = action
    }

    func flush(context: ChannelHandlerContext) {
        guard let action = action.take() else {
            if !isHolding { context.flush() }
            return
        }
        isHolding = true
        action()
        context.fireChannelWritabilityChanged()
        context.eventLoop.assumeIsolated().execute {
            self.isHolding = false
            context.flush()
        }
    }
}

private final class ReceivedText: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    let text = Mutex("")

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let piece = String(buffer: unwrapInboundIn(data))
        text.withLock { $0 += piece }
    }
}
