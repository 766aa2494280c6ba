import GotchuCore
import Testing

@Suite("The batching of reports") struct ReadBatchingTests {
    @Test("300 or more reports a second are read in batches, and 150 or fewer without a pause")
    func crowd() {
        #expect(pauses(perSecond: 20).isEmpty)
        #expect(pauses(perSecond: 150).isEmpty)
        #expect(!pauses(perSecond: 300).isEmpty)
        let busy = pauses(perSecond: 1000)
        #expect(busy.first.map { $0 >= ReadBatching.window } == true)
        #expect(busy.count > 1000)
    }

    @Test("Ten seconds after many reports, a single report is read without a pause")
    func calm() {
        var (batching, time) = afterCrowd()
        #expect(batching.pauseEnd == time + ReadBatching.pause)
        time += .seconds(10)
        batching.read(1, hasMore: false, now: time)
        #expect(batching.pauseEnd == nil)
    }

    @Test("A batch may take several reads, and a batch that was begun early is read to its end")
    func severalReads() {
        var (batching, time) = afterCrowd()
        time += .milliseconds(20)
        // A call has ended the pause early. The rest of the batch is read at once.
        batching.read(64, hasMore: true, now: time)
        #expect(batching.pauseEnd == time)
        batching.read(0, hasMore: false, now: time)
        #expect(batching.pauseEnd == time + ReadBatching.pause)
        batching.read(0, hasMore: false, now: time)
        #expect(batching.pauseEnd == nil)
    }

    /// Returns the batching after 1,000 reports in one second, and the time of the last report.
    private func afterCrowd() -> (ReadBatching, ContinuousClock.Instant) {
        var batching = ReadBatching()
        var time = ContinuousClock.now
        for _ in 0..<1000 {
            time += .milliseconds(1)
            batching.read(1, hasMore: false, now: time)
        }
        return (batching, time)
    }

    /// Returns the times, within two seconds, after which the reading pauses.
    private func pauses(perSecond: Int) -> [Duration] {
        var batching = ReadBatching()
        let start = ContinuousClock.now
        return (0..<(2 * perSecond)).compactMap { index in
            let time: Duration = .seconds(Double(index) / Double(perSecond))
            batching.read(1, hasMore: false, now: start + time)
            return batching.pauseEnd == nil ? nil : time
        }
    }
}
