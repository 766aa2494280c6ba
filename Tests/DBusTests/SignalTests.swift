import BusTestSupport
import Dispatch
import Testing

@testable import DBus

@Suite struct SignalTests {
    private static let here = ObjectPath("/here") ?? .root
    private static let there = ObjectPath("/there") ?? .root

    private static func signal(_ path: ObjectPath, _ number: UInt32) -> Signal {
        Signal(path: path, interface: Echo.interface, member: "Said", arguments: [.uint32(number)])
    }

    @Test("a subscriber to one path hears that path, in order, from the first signal on")
    func byPath() async throws {
        let bus = try PrivateBus()
        let sender = try await bus.connect()
        let client = try await bus.connect()
        let signals = try await client.signals(MatchRule(path: Self.here))
        for number in 0..<10 as Range<UInt32> {
            try await sender.emit(Self.signal(Self.there, number))
            try await sender.emit(Self.signal(Self.here, number))
        }
        let heard = try await withDeadline {
            var heard: [Signal] = []
            for await signal in signals {
                heard.append(signal)
                if heard.count == 10 { break }
            }
            return heard
        }
        #expect(heard.allSatisfy { $0.path == Self.here && $0.sender == sender.uniqueName })
        #expect(heard.map(\.arguments) == (0..<10).map { [.uint32($0)] })
        await client.close()
        await sender.close()
    }

    @Test("a reply's awaiter on the connection's thread goes on before a signal behind the reply")
    func replyFirst() async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        let client = try await bus.connect()
        let (calls, called) = AsyncStream<Void>.makeStream()
        let (gate, open) = AsyncStream<Void>.makeStream()
        let stall = ExportedObject.Method { _ throws(MethodFailure) in
            called.yield()
            for await _ in gate { break }
            return []
        }
        let interface = ExportedObject.Interface(methods: ["Stall": stall])
        try await server.export(
            ExportedObject(interfaces: [Echo.interface: interface]),
            at: Echo.path
        )
        let follower = Follower(client)
        let subscription = try await client.subscribe([MatchRule(path: Self.here)]) { _ in
            follower.assumeIsolated { $0.receive() }
        }
        async let received = follower.ask(server.uniqueName)
        for await _ in calls { break }
        // The thread is kept from reading until both are there.
        let release = DispatchSemaphore(value: 0)
        let (blocks, blocked) = AsyncStream<Void>.makeStream()
        async let block: Void = follower.block(blocked, until: release)
        for await _ in blocks { break }
        open.yield()
        while await server.isServing { await Task.yield() }
        try await server.emit(Self.signal(Self.here, 1))
        _ = try await server.owner(of: "sh.gotchu.Nobody")
        release.signal()
        await block
        #expect(try await received == 0)
        try await withDeadline { while await follower.received == 0 { await Task.yield() } }
        await client.unsubscribe(subscription)
        await client.close()
        await server.close()
    }

    /// An actor on a connection's thread.
    private actor Follower {
        private nonisolated let connection: Connection
        private(set) var received = 0

        init(_ connection: Connection) {
            self.connection = connection
        }

        nonisolated var unownedExecutor: UnownedSerialExecutor { connection.unownedExecutor }

        func receive() { received += 1 }

        /// - Returns: The signals received when the reply was there.
        func ask(_ destination: String) async throws -> Int {
            _ = try await connection.call(
                Echo.call("Stall", at: destination),
                timeout: .seconds(10)
            )
            return received
        }

        func block(_ begun: AsyncStream<Void>.Continuation, until release: DispatchSemaphore) {
            begun.yield()
            release.wait()
        }
    }

    @Test("a name's owners are followed without a gap")
    func owners() async throws {
        let bus = try PrivateBus()
        let client = try await bus.connect()
        let name = "sh.gotchu.Name"
        let signals = try await client.signals(.ownerChanges(of: name))
        #expect(try await client.owner(of: name) == nil)
        let first = try await bus.connect()
        try await first.requestName(name)
        #expect(try await client.owner(of: name) == first.uniqueName)
        let second = try await bus.connect()
        await expect(.nameTaken) { try await second.requestName(name) }
        try await first.releaseName(name)
        try await second.requestName(name)
        await second.close()
        let owners = try await withDeadline {
            var owners: [String?] = []
            for await signal in signals {
                if let owner = MatchRule.newOwner(of: name, in: signal) { owners.append(owner) }
                if owners.count == 4 { break }
            }
            return owners
        }
        #expect(owners == [first.uniqueName, nil, second.uniqueName, nil])
        await first.close()
        await client.close()
    }

    @Test("a rule with a quote is refused, not sent")
    func quote() async throws {
        let bus = try PrivateBus()
        let client = try await bus.connect()
        await expect(.invalidValue) {
            try await client.signals(MatchRule(firstArgument: "x',type='method_call"))
        }
        await client.close()
    }
}

extension Connection {
    fileprivate var isServing: Bool { !served.isEmpty }
}
