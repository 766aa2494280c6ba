import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of the memory for bodies, on the server's real connections.
@Suite("The memory for bodies")
struct BodyMemoryTests {
    /// Runs `body` with a server whose replies are the lengths of the bodies.
    private func withServer(
        acceptsStripe: Bool = false,
        _ body: (Wire, BodyMemory) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let front = HTTPConnector(
            responder: { request, _ in
                let body = try await request.wholeBody(limit: 1 << 20)
                let text = ByteBuffer(string: "\(body.readableBytes)")
                return Response(status: .ok, body: ResponseBody(byteBuffer: text))
            },
            connections: ConnectionCounter(limit: 16, exempt: TrustedProxies()),
            acceptsStripe: acceptsStripe,
            metrics: RequestMetrics(),
            logger: logger
        )
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                front.setup(channel: channel, logger: logger).map { _ in }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        let wire = Wire(base: "http://127.0.0.1:\(port)", isValidated: false)
        let result: Result<Void, any Error>
        do { result = .success(try await body(wire, front.bodies)) } catch {
            result = .failure(error)
        }
        try await listener.close()
        try result.get()
    }

    private func text(_ size: Int) -> String { String(repeating: "a", count: size) }

    @Test("A large body is told to try again while bodies use all memory, and a payment's passes")
    func full() async throws {
        try await withServer { wire, memory in
            var others = BodyMemory.Share(memory)
            var isHeld = others.hold(BodyMemory.limit)
            #expect(isHeld)
            let large = try await wire.post("/", text(BodyMemory.uncounted + 1))
            #expect(large.status == 503 && large.code == "TRY_AGAIN")
            #expect(large.headers["retry-after"] == "1")
            let small = try await wire.post("/", text(BodyMemory.uncounted))
            #expect(small.text == "\(BodyMemory.uncounted)")
            others.release()
            // The memory of each request is free again after its reply.
            for _ in 0..<3 {
                #expect(try await wire.post("/", text(60_000)).text == "60000")
                isHeld = others.hold(BodyMemory.limit)
                #expect(isHeld)
                others.release()
            }
        }
    }

    @Test(
        "Only a signed call of a configured Stripe may be larger than 64 KiB",
        arguments: [(true, true), (true, false), (false, true)]
    )
    func stripe(isConfigured: Bool, isSigned: Bool) async throws {
        try await withServer(acceptsStripe: isConfigured) { wire, _ in
            let headers = isSigned ? ["Stripe-Signature": "t=1,v1=0"] : [:]
            let path = StripeWebhook.path
            let reply = try await wire.call("POST", path, text(100_000), headers: headers)
            #expect((reply.text == "100000") == (isConfigured && isSigned))
            let other = try await wire.call("POST", "/x", text(100_000), headers: headers)
            #expect(other.text != "100000")
        }
    }
}
