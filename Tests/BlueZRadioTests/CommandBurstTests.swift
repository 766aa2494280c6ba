import BlueZ
import GotchuCore
import Testing

@testable import BlueZRadio

@Suite("Commands that come together")
struct CommandBurstTests {
    @Test("The end of a scan that is lost and resent twice is not counted as a start")
    func endSentAgain() throws {
        let timings = RecoveryTimings()
        var burst = CommandBurst()
        var now = MonotonicTime.now
        // The kernel gives up the first one after 2 s, which may be soon; reports kept coming.
        #expect(burst.looked(ControllerTraffic(commands: 1, events: 4), now: now) == nil)
        let pause = try #require(burst.lookInterval(timings))
        #expect(pause <= .milliseconds(100), "a start would be complete")
        let nothing = ControllerTraffic(commands: 0, events: 0)
        #expect(burst.looked(nothing, now: now + pause) == .broken(now))
        #expect(burst.lookInterval(timings) == nil)
        now = now + .milliseconds(400)
        #expect(burst.looked(ControllerTraffic(commands: 2, events: 4), now: now) == nil)
        #expect(burst.looked(nothing, now: now + pause) == .broken(now))
    }
}
