import BlueZ
import GotchuCore
import Testing

@testable import BlueZRadio

@Suite("Bursts of commands in the kernel's counts")
struct CommandBurstTests {
    @Test("A stop command that is lost and then sent twice more is not counted as a scan start")
    func endSentAgain() throws {
        let timings = RecoveryTimings()
        var burst = CommandBurst()
        var now = MonotonicTime.now
        // The answer to the stop command is lost. Reports of devices are still counted as events.
        #expect(burst.readCounts(ControllerTraffic(commands: 1, events: 4), now: now) == nil)
        let pause = try #require(burst.pollInterval(timings))
        #expect(pause <= .milliseconds(100), "a scan start would be complete by then")
        let nothing = ControllerTraffic(commands: 0, events: 0)
        #expect(burst.readCounts(nothing, now: now + pause) == .endedWithoutScan(now))
        #expect(burst.pollInterval(timings) == nil)
        now = now + .milliseconds(400)
        #expect(burst.readCounts(ControllerTraffic(commands: 2, events: 4), now: now) == nil)
        #expect(burst.readCounts(nothing, now: now + pause) == .endedWithoutScan(now))
    }
}
