import BusTestSupport
import Testing

@testable import DBus

@Suite struct SignalTests {
    private static let here = ObjectPath("/here") ?? .root
    private static let there = ObjectPath("/there") ?? .root

    private static func signal(_ path: ObjectPath, _ number: UInt32) -> Signal {
        Signal(path: path, interface: Echo.interface, member: "Said", arguments: [.uint32(number)])
    }

    @Test("A subscriber to one path receives all its signals, in order, and no others")
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

    @Test("A client that reads in batches has 20,000 signals within 8 s after the last is sent")
    func crowd() async throws {
        let bus = try PrivateBus()
        let sender = try await bus.connect()
        var limits = Limits()
        limits.batchesSignals = true
        let client = try await bus.connect(limits: limits)
        let signals = try await client.signals(MatchRule(path: Self.here))
        let count = 20_000
        let text = String(repeating: "a", count: 400)
        // SAFETY: ends after its last signal; the test awaits it.
        let sending = Task {
            for _ in 0..<count {
                let said = Signal(
                    path: Self.here,
                    interface: Echo.interface,
                    member: "Said",
                    arguments: [.string(text)]
                )
                try await sender.emit(said)
            }
            return ContinuousClock.now
        }
        let heard = try await withDeadline(.seconds(60)) {
            var heard = 0
            for await _ in signals {
                heard += 1
                if heard == count { break }
            }
            return heard
        }
        #expect(heard == count)
        // With only one read after each pause, receiving would last half a minute longer.
        let lag = try await sending.value.duration(to: .now)
        #expect(lag < .seconds(8))
        await client.close()
        await sender.close()
    }

    @Test("A reply does not wait for the end of the pause between batched reads")
    func callInPause() async throws {
        let bus = try PrivateBus()
        let sender = try await bus.connect()
        let server = try await bus.connect()
        try await server.export(Echo.object([Value.uint32(7).signature]), at: Echo.path)
        var limits = Limits()
        limits.batchesSignals = true
        let client = try await bus.connect(limits: limits)
        let signals = try await client.signals(MatchRule(path: Self.here))
        // SAFETY: cancelled below.
        let crowd = Task {
            while !Task.isCancelled {
                try await sender.emit(Self.signal(Self.here, 0))
                // SAFETY: sets the rate of the signals, 500 a second.
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        let call = Echo.call("Echo0", at: server.uniqueName, [.uint32(7)])
        let took = try await withDeadline(.seconds(60)) {
            var heard = 0
            // After one second of signals, the client pauses between its reads.
            for await _ in signals {
                heard += 1
                if heard == 500 { break }
            }
            return try await ContinuousClock().measure {
                for _ in 0..<50 { _ = try await client.call(call, timeout: .seconds(10)) }
            }
        }
        crowd.cancel()
        // If a reply waited for a pause, each call would take about 80 ms, and all four seconds.
        #expect(took < .seconds(2))
        await client.close()
        await server.close()
        await sender.close()
    }

    @Test("A reply is received after earlier signals and before later signals")
    func replyInOrder() async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        let client = try await bus.connect()
        let answer = ExportedObject.Method { _ throws(MethodFailure) in
            try? await server.emit(Self.signal(Self.here, 0))
            // SAFETY: ends when this call has been answered.
            Task {
                while await server.isServing { await Task.yield() }
                try? await server.emit(Self.signal(Self.here, 1))
            }
            return []
        }
        let interface = ExportedObject.Interface(methods: ["Answer": answer])
        let object = ExportedObject(interfaces: [Echo.interface: interface])
        try await server.export(object, at: Echo.path)
        let (order, seen) = AsyncStream<String>.makeStream()
        let subscription = try await client.subscribe([MatchRule(path: Self.here)]) { signal in
            seen.yield(signal.arguments == [.uint32(0)] ? "before" : "behind")
        }
        let call = Echo.call("Answer", at: server.uniqueName)
        for _ in 0..<100 {
            _ = try await client.call(call, timeout: .seconds(10)) { _ in seen.yield("reply") }
            var three: [String] = []
            for await one in order {
                three.append(one)
                if three.count == 3 { break }
            }
            #expect(three == ["before", "reply", "behind"])
        }
        await client.unsubscribe(subscription)
        await client.close()
        await server.close()
    }

    @Test("Each change of a name's owner is reported, in order")
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
        await expect(.remote) { try await second.requestName(name) }
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

    @Test("A match rule with a quote is refused")
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
    fileprivate var isServing: Bool { !inboundCalls.isEmpty }
}
