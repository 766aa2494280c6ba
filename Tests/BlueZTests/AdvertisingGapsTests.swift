import BlueZ
import GotchuCore
import Testing

@Suite("The time between advertisements") struct AdvertisingGapsTests {
    private func gaps(_ milliseconds: [Int]) -> AdvertisingGaps {
        var gaps = AdvertisingGaps()
        for time in milliseconds {
            gaps.add(MonotonicTime(sinceStart: .milliseconds(1000 + time)))
        }
        return gaps
    }

    @Test("is the one in the middle, so that one that was missed does not count")
    func median() {
        #expect(gaps([0, 100, 205, 412, 515, 619]).median == .milliseconds(104))
        #expect(gaps([0, 1281, 2560, 3846]).median == .milliseconds(1281))
    }

    @Test("is not guessed from less than four, and an echo is no advertisement")
    func few() {
        #expect(gaps([]).median == nil && gaps([0, 100, 200]).median == nil)
        #expect(gaps([0, 2, 100, 114, 200]).median == nil)
        #expect(gaps([0, 2, 100, 114, 200, 300]).median == .milliseconds(100))
    }

    @Test("is known from nine")
    func enough() {
        #expect(!gaps((0..<8).map { $0 * 100 }).areEnough)
        #expect(gaps((0..<9).map { $0 * 100 }).areEnough)
    }
}
