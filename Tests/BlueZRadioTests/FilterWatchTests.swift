import BlueZ
import GotchuCore
import Testing

@testable import BlueZRadio

/// Whether our filter restarts the scan, told by the commands that follow one.
@Suite struct FilterWatchTests {
    private static let timings = RecoveryTimings()
    private var filter = FilterWatch(timings: timings)
    private var now = MonotonicTime(sinceStart: .seconds(100))

    @Test("commands after a filter are its answer")
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

    @Test("a filter that nothing follows is masked once the scan has begun anew by itself")
    mutating func masked() {
        mask()
        #expect(filter.effect == .masked)
    }

    @Test("Silence after a filter says nothing where the scan does not live")
    mutating func stuck() {
        for _ in 0..<20 {
            set()
            look()
        }
        look(commands: 1)
        look(commands: 4, events: 3)
        #expect(filter.effect == .unknown)
    }

    @Test("silence for a moment, or without a filter, is nothing")
    mutating func moment() {
        for _ in 0..<9 { look() }
        look(commands: 4)
        set()
        look(after: Self.timings.proofLimit - .milliseconds(1))
        look(commands: 4)
        #expect(filter.effect == .restarts)
    }

    @Test("beside a masked filter the scan's own cycle may come at the same time: once is no proof")
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

    @Test("once another program lets go, ours counts again")
    mutating func unmasked() {
        mask()
        for _ in 0..<2 {
            set()
            look(commands: 4)
        }
        #expect(filter.effect == .restarts)
    }

    @Test("a look between a start's commands and its reply has seen them already")
    mutating func lookBeforeReply() {
        filter.asked()
        look(commands: 4)
        filter.accepted(now: now)
        look()
        look(commands: 4)
        #expect(filter.effect == .unknown)
    }

    @Test("Counts from before a filter was sent are not its doing")
    mutating func lookBeforeSending() {
        filter.asked()
        look()
        filter.accepted(now: now)
        look()
        look(commands: 4)
        #expect(filter.effect == .masked)
    }

    @Test("nothing is learned of what is disturbed, neither from silence nor from commands")
    mutating func disturbed() {
        set()
        filter.disturbed()
        look(commands: 4)
        #expect(filter.effect == .unknown)
        set()
        look()
        filter.disturbed()
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
        filter.asked()
        filter.accepted(now: now)
    }

    /// - Parameter events: as many as commands unless said.
    private mutating func look(
        commands: UInt32 = 0,
        events: UInt32? = nil,
        after duration: Duration = Self.timings.proofLimit
    ) {
        now = now + duration
        let traffic = ControllerTraffic(commands: commands, events: events ?? commands)
        filter.looked(traffic, now: now)
    }
}
