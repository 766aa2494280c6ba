import BusTestSupport
import Testing

@testable import DBus

@Suite struct CallTests {
    @Test("A call whose reply is late times out, and the late reply is counted")
    func timeout() async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        let client = try await bus.connect()
        let (gate, open) = AsyncStream<Void>.makeStream()
        let slow = ExportedObject.Method { _ throws(MethodFailure) in
            for await _ in gate { break }
            return []
        }
        let interface = ExportedObject.Interface(methods: ["Slow": slow])
        try await server.export(
            ExportedObject(interfaces: [Echo.interface: interface]),
            at: Echo.path
        )
        await expect(.timedOut) {
            try await client.call(
                Echo.call("Slow", at: server.uniqueName),
                timeout: .milliseconds(50)
            )
        }
        open.yield()
        // The server sends the late reply before its reply to a later ping, and the bus keeps their
        // order. The test therefore sends pings until the late reply has arrived.
        let ping = Echo.call(
            "Ping",
            at: server.uniqueName,
            interface: "org.freedesktop.DBus.Peer"
        )
        try await withDeadline {
            while await client.lateReplies == 0 {
                _ = try await client.call(ping, timeout: .seconds(10))
            }
        }
        #expect(await client.lateReplies == 1)
        #expect(BusLosses.ofThisProcess.lateReplies >= 1)
        await client.close()
        await server.close()
    }

    @Test(
        "A call whose task is cancelled fails without waiting for its reply",
        arguments: [false, true]
    )
    func cancellation(isCancelledBefore: Bool) async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        let client = try await bus.connect()
        try await server.export(Echo.object(), at: Echo.path)
        let call = Echo.call("Stall", at: server.uniqueName)
        // SAFETY: owned by this test, which awaits it.
        let task = Task {
            if isCancelledBefore { withUnsafeCurrentTask { $0?.cancel() } }
            await expect(.cancelled) { try await client.call(call, timeout: .seconds(60)) }
        }
        if !isCancelledBefore { task.cancel() }
        try await withDeadline { await task.value }
        await client.close()
        await server.close()
    }

    @Test(
        "If the bus dies, a pending call fails, the closure is reported, and later calls fail too"
    )
    func disconnect() async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        let client = try await bus.connect()
        try await server.export(Echo.object(), at: Echo.path)
        let closed = await client.closed()
        async let failed: Void = expect(.closed) {
            try await client.call(
                Echo.call("Stall", at: server.uniqueName),
                timeout: .seconds(60)
            )
        }
        bus.stop()
        try await withDeadline {
            for await _ in closed {}
        }
        await failed
        #expect(await client.isClosed)
        await expect(.closed) {
            try await client.call(Echo.call("Stall", at: "a.b"), timeout: .seconds(1))
        }
        await client.close()
        await expect(.closed) {
            try await client.call(Echo.call("Stall", at: "a.b"), timeout: .seconds(1))
        }
        await server.close()
    }

    @Test(
        "A thousand concurrent calls get their own replies, although the bus allows 128 at a time"
    )
    func thousand() async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        let client = try await bus.connect()
        try await server.export(Echo.object([Signature("u") ?? .none]), at: Echo.path)
        let wrong = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<1000 as Range<UInt32> {
                group.addTask {
                    let call = Echo.call("Echo0", at: server.uniqueName, [.uint32(number)])
                    return try await client.call(call, timeout: .seconds(30)) == [.uint32(number)]
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 0 : 1) }
        }
        #expect(wrong == 0)
        await client.close()
        await server.close()
    }

    @Test(
        "Calls up to both limits are accepted, and one more is refused as overload",
        arguments: [0, 2]
    )
    func overload(waiting: Int) async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        try await server.export(Echo.object(), at: Echo.path)
        var limits = Limits()
        limits.callsInFlight = 1
        limits.callsWaiting = waiting
        let client = try await bus.connect(limits: limits)
        let codes: [DBusError.Code?] = await withTaskGroup(of: DBusError.Code?.self) { group in
            for _ in 0..<waiting + 2 {
                group.addTask {
                    do throws(DBusError) {
                        let call = Echo.call("Stall", at: server.uniqueName)
                        _ = try await client.call(call, timeout: .seconds(60))
                        return nil
                    } catch {
                        return error.code
                    }
                }
            }
            // The accepted calls wait for their replies until the connection is closed.
            var ended: [DBusError.Code?] = []
            for await code in group {
                if ended.isEmpty { await client.close() }
                ended.append(code)
            }
            return ended
        }
        var expected: [DBusError.Code?] = Array(repeating: .closed, count: waiting + 2)
        expected[0] = .overloaded
        #expect(codes == expected)
        await server.close()
    }

    @Test("A missing bus is reported as unreachable")
    func unreachable() async throws {
        await expect(.unreachable) {
            try await Connection.open(
                BusAddress("unix:path=/nonexistent/bus"),
                logger: quietLogger
            )
        }
    }

    @Test("A hundred connections do not leak one descriptor each")
    func leaks() async throws {
        let bus = try PrivateBus()
        let before = try openDescriptors()
        for _ in 0..<100 {
            let connection = try await bus.connect()
            await connection.close()
        }
        // Other tests may open descriptors at the same time. The limit is one per connection.
        #expect(try openDescriptors() < before + 100)
    }
}

/// Expects a `DBusError` with the given code.
func expect<T>(
    _ code: DBusError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> T
) async {
    do {
        _ = try await body()
        Issue.record("no failure", sourceLocation: sourceLocation)
    } catch {
        #expect((error as? DBusError)?.code == code, sourceLocation: sourceLocation)
    }
}
