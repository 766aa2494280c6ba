import GotchuCore
import Testing

@Suite("The pace of reading reports") struct ReadingPaceTests {
    @Test("a crowd's reports gather, a few people's never wait")
    func pace() {
        #expect(pauses(perSecond: 20).isEmpty)
        #expect(pauses(perSecond: 150).isEmpty)
        #expect(!pauses(perSecond: 300).isEmpty)
        let busy = pauses(perSecond: 1000)
        #expect(busy.first.map { $0 >= ReadingPace.window } == true)
        #expect(busy.count > 1000)
    }

    @Test("after the crowd has gone nothing waits any more")
    func calm() {
        var pace = ReadingPace()
        var time = MonotonicTime(sinceStart: .zero)
        for _ in 0..<1000 {
            time = time + .milliseconds(1)
            _ = pace.read(1, now: time)
        }
        time = time + .seconds(10)
        let first = pace.read(1, now: time)
        #expect(first == nil)
    }

    /// When, in two seconds, a reading is followed by a pause.
    private func pauses(perSecond: Int) -> [Duration] {
        var pace = ReadingPace()
        return (0..<(2 * perSecond)).compactMap { index in
            let time = MonotonicTime(sinceStart: .seconds(Double(index) / Double(perSecond)))
            return pace.read(1, now: time) == nil ? nil : time.sinceStart
        }
    }
}
