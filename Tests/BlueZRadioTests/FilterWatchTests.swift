import BlueZ
import GotchuCore
import Testing

@testable import BlueZRadio

/// Tests that the effect of our filter is derived from the commands that follow it.
@Suite struct FilterWatchTests {
    private static let timings = RecoveryTimings()
    private var filter = FilterWatch(timings: timings)
    private var now = MonotonicTime(sinceStart: .seconds(100))

    @Test("Commands after a filter show that it restarts the scan")
    mutating func restarts() {
        set()
        readCounts(commands: 4)
        #expect(filter.effect == .restarts)
        set()
        readCounts(commands: 4)
        set()
        readCounts(commands: 1)
        readCounts()
        #expect(filter.effect == .restarts)
    }

    @Test("A filter that no command follows counts as masked once the scan has restarted by itself")
    mutating func masked() {
        mask()
        #expect(filter.effect == .masked)
    }

    @Test("Missing commands after a filter leave its effect unknown if the scan does not run")
    mutating func stuck() {
        for _ in 0..<20 {
            set()
            readCounts()
        }
        readCounts(commands: 1)
        readCounts(commands: 4, events: 3)
        #expect(filter.effect == .unknown)
    }

    @Test("Silence that is short, or before the first filter, does not count as a masked filter")
    mutating func moment() {
        for _ in 0..<9 { readCounts() }
        readCounts(commands: 4)
        set()
        readCounts(after: Self.timings.proofLimit - .milliseconds(1))
        readCounts(commands: 4)
        #expect(filter.effect == .restarts)
    }

    @Test("A filter still counts as masked after one restart, which may be the scan's own cycle")
    mutating func coincidence() {
        mask()
        for _ in 0..<9 {
            set()
            readCounts(commands: 4)
            #expect(filter.effect == .masked)
            set()
            readCounts()
        }
    }

    @Test("After two filters in a row that restart the scan, a masked filter counts as effective")
    mutating func unmasked() {
        mask()
        for _ in 0..<2 {
            set()
            readCounts(commands: 4)
        }
        #expect(filter.effect == .restarts)
    }

    @Test("Commands that are counted between a filter's call and its reply prevent `masked`")
    mutating func lookBeforeReply() {
        filter.sent()
        readCounts(commands: 4)
        filter.accepted(now: now)
        readCounts()
        readCounts(commands: 4)
        #expect(filter.effect == .unknown)
    }

    @Test(
        "A reading without commands between a filter's call and its reply does not prevent `masked`"
    )
    mutating func lookBeforeSending() {
        filter.sent()
        readCounts()
        filter.accepted(now: now)
        readCounts()
        readCounts(commands: 4)
        #expect(filter.effect == .masked)
    }

    @Test(
        "The effect of a filter stays unknown if the counts are unclear, with or without commands"
    )
    mutating func disturbed() {
        set()
        filter.markCountsUnclear()
        readCounts(commands: 4)
        #expect(filter.effect == .unknown)
        set()
        readCounts()
        filter.markCountsUnclear()
        readCounts()
        readCounts(commands: 4)
        #expect(filter.effect == .unknown)
        mask()
        #expect(filter.effect == .masked)
    }

    private mutating func mask() {
        set()
        readCounts()
        readCounts(commands: 4)
    }

    private mutating func set() {
        filter.sent()
        filter.accepted(now: now)
    }

    /// - Parameter events: The number of events; by default the number of commands.
    private mutating func readCounts(
        commands: UInt32 = 0,
        events: UInt32? = nil,
        after duration: Duration = Self.timings.proofLimit
    ) {
        now = now + duration
        let traffic = ControllerTraffic(commands: commands, events: events ?? commands)
        filter.readCounts(traffic, now: now)
    }
}
