import GotchuCore
import Testing

@Suite("The batching of reports") struct ReadBatchingTests {
    @Test("a crowd's reports are gathered; those of few devices never wait")
    func pace() {
        #expect(pauses(perSecond: 20).isEmpty)
        #expect(pauses(perSecond: 150).isEmpty)
        #expect(!pauses(perSecond: 300).isEmpty)
        let busy = pauses(perSecond: 1000)
        #expect(busy.first.map { $0 >= ReadBatching.window } == true)
        #expect(busy.count > 1000)
    }

    @Test("after the crowd has gone no report waits")
    func calm() {
        var pace = ReadBatching()
        var time = ContinuousClock.now
        for _ in 0..<1000 {
            time += .milliseconds(1)
            pace.read(1, hasMore: false, now: time)
        }
        #expect(pace.pauseEnd == time + ReadBatching.pause)
        time += .seconds(10)
        pace.read(1, hasMore: false, now: time)
        #expect(pace.pauseEnd == nil)
    }

    @Test("a batch that takes several reads is one batch, and nothing is left after an empty one")
    func severalReads() {
        var pace = ReadBatching()
        var time = ContinuousClock.now
        for _ in 0..<1000 {
            time += .milliseconds(1)
            pace.read(1, hasMore: false, now: time)
        }
        let end = pace.pauseEnd
        time += .milliseconds(100)
        pace.read(64, hasMore: true, now: time)
        #expect(end != nil && pace.pauseEnd == end)
        pace.read(3, hasMore: false, now: time)
        #expect(pace.pauseEnd == time + ReadBatching.pause)
        pace.read(0, hasMore: false, now: time)
        #expect(pace.pauseEnd == nil)
    }

    /// Returns the times, within two seconds, at which a reading is followed by a pause.
    private func pauses(perSecond: Int) -> [Duration] {
        var pace = ReadBatching()
        let start = ContinuousClock.now
        return (0..<(2 * perSecond)).compactMap { index in
            let time: Duration = .seconds(Double(index) / Double(perSecond))
            pace.read(1, hasMore: false, now: start + time)
            return pace.pauseEnd == nil ? nil : time
        }
    }
}
