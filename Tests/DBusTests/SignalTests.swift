import BusTestSupport
import DBus
import Synchronization
import Testing

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
        let subscription = try await client.subscribe(MatchRule(path: Self.here))
        for number in 0..<10 as Range<UInt32> {
            try await sender.emit(Self.signal(Self.there, number))
            try await sender.emit(Self.signal(Self.here, number))
        }
        let heard = try await withDeadline {
            var heard: [Signal] = []
            for await signal in subscription.signals {
                heard.append(signal)
                if heard.count == 10 { break }
            }
            return heard
        }
        #expect(heard.allSatisfy { $0.path == Self.here && $0.sender == sender.uniqueName })
        #expect(heard.map(\.arguments) == (0..<10).map { [.uint32($0)] })
        await client.unsubscribe(subscription)
        await client.close()
        await sender.close()
    }

    @Test("a slow subscriber loses the oldest, and the loss is counted")
    func slow() async throws {
        let bus = try PrivateBus()
        let sender = try await bus.connect()
        let client = try await bus.connect()
        let slow = try await client.subscribe(MatchRule(path: Self.here), limit: 4)
        let quick = try await client.subscribe(MatchRule(path: Self.here))
        for number in 0..<100 as Range<UInt32> {
            try await sender.emit(Self.signal(Self.here, number))
        }
        try await withDeadline {
            for await signal in quick.signals where signal.arguments == [.uint32(99)] { break }
        }
        // The same turn delivered to both.
        await client.unsubscribe(slow)
        var kept: [Signal] = []
        for await signal in slow.signals { kept.append(signal) }
        #expect(kept.map(\.arguments) == (96..<100).map { [.uint32($0)] })
        #expect(slow.dropped == 96)
        #expect(BusLosses.ofThisProcess.droppedSignals >= 96)
        await client.close()
        await sender.close()
    }

    @Test("what is taken as it is read is not in the stream; what is left is, in order")
    func offered() async throws {
        let bus = try PrivateBus()
        let sender = try await bus.connect()
        let client = try await bus.connect()
        let offered = Mutex<[Signal]>([])
        let rules = [MatchRule(path: Self.here)]
        let subscription = try await client.subscribe(rules) { signal in
            offered.withLock { $0.append(signal) }
            return signal.arguments != [.uint32(3)] && signal.arguments != [.uint32(9)]
        }
        for number in 0..<10 as Range<UInt32> {
            try await sender.emit(Self.signal(Self.here, number))
        }
        let left = try await withDeadline {
            var left: [Signal] = []
            for await signal in subscription.signals {
                left.append(signal)
                if left.count == 2 { break }
            }
            return left
        }
        #expect(left.map(\.arguments) == [[.uint32(3)], [.uint32(9)]])
        #expect(offered.withLock { $0.map(\.arguments) } == (0..<10).map { [.uint32($0)] })
        await client.close()
        await sender.close()
    }

    @Test("a name's owners are followed without a gap")
    func owners() async throws {
        let bus = try PrivateBus()
        let client = try await bus.connect()
        let name = "sh.gotchu.Name"
        let subscription = try await client.subscribe(.ownerChanges(of: name))
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
            for await signal in subscription.signals {
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
            try await client.subscribe(MatchRule(firstArgument: "x',type='method_call"))
        }
        await client.close()
    }
}
