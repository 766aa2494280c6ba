import BlueZ
import GotchuCore
import Testing

@testable import BlueZRadio

/// The effect of our filter on the scan, judged by the commands that follow it.
@Suite struct FilterWatchTests {
    private static let timings = RecoveryTimings()
    private var filter = FilterWatch(timings: timings)
    private var now = MonotonicTime(sinceStart: .seconds(100))

    @Test("commands after a filter show that it restarts the scan")
    mutating func restarts() {
        set()
        look(commands: 4)
        #expect(filter.effect == .restarts)
        set()
        look(commands: 4)
        set()
        look(commands: 1)
        look()
        #expect(filter.effect == .restarts)
    }

    @Test("a filter that no command follows is masked once the scan has restarted by itself")
    mutating func masked() {
        mask()
        #expect(filter.effect == .masked)
    }

    @Test("Silence after a filter proves nothing if the scan is dead")
    mutating func stuck() {
        for _ in 0..<20 {
            set()
            look()
        }
        look(commands: 1)
        look(commands: 4, events: 3)
        #expect(filter.effect == .unknown)
    }

    @Test("silence that is short, or without a filter, proves nothing")
    mutating func moment() {
        for _ in 0..<9 { look() }
        look(commands: 4)
        set()
        look(after: Self.timings.proofLimit - .milliseconds(1))
        look(commands: 4)
        #expect(filter.effect == .restarts)
    }

    @Test("beside a masked filter the scan's own cycle may coincide: one restart is no proof")
    mutating func coincidence() {
        mask()
        for _ in 0..<9 {
            set()
            look(commands: 4)
            #expect(filter.effect == .masked)
            set()
            look()
        }
    }

    @Test("after another program removes its filter, ours counts again")
    mutating func unmasked() {
        mask()
        for _ in 0..<2 {
            set()
            look(commands: 4)
        }
        #expect(filter.effect == .restarts)
    }

    @Test("commands of a start that are counted before its reply are not counted again")
    mutating func lookBeforeReply() {
        filter.sent()
        look(commands: 4)
        filter.accepted(now: now)
        look()
        look(commands: 4)
        #expect(filter.effect == .unknown)
    }

    @Test("Counts from before a filter was sent are not its effect")
    mutating func lookBeforeSending() {
        filter.sent()
        look()
        filter.accepted(now: now)
        look()
        look(commands: 4)
        #expect(filter.effect == .masked)
    }

    @Test("a disturbed filter proves nothing, neither by silence nor by commands")
    mutating func disturbed() {
        set()
        filter.markCountsUnclear()
        look(commands: 4)
        #expect(filter.effect == .unknown)
        set()
        look()
        filter.markCountsUnclear()
        look()
        look(commands: 4)
        #expect(filter.effect == .unknown)
        mask()
        #expect(filter.effect == .masked)
    }

    private mutating func mask() {
        set()
        look()
        look(commands: 4)
    }

    private mutating func set() {
        filter.sent()
        filter.accepted(now: now)
    }

    /// - Parameter events: The number of events; by default that of the commands.
    private mutating func look(
        commands: UInt32 = 0,
        events: UInt32? = nil,
        after duration: Duration = Self.timings.proofLimit
    ) {
        now = now + duration
        let traffic = ControllerTraffic(commands: commands, events: events ?? commands)
        filter.readCounts(traffic, now: now)
    }
}
