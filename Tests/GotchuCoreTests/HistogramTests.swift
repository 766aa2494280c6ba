import GotchuCore
import Testing

@Suite("A histogram")
struct HistogramTests {
    @Test("A histogram counts the values up to each bound, and sums all values")
    func counts() {
        var histogram = Histogram(bounds: [.milliseconds(10), .milliseconds(20), .seconds(1)])
        #expect(histogram.count == 0 && histogram.cumulativeCounts == [0, 0, 0])
        for milliseconds in [1, 10, 11, 20, 1001] { histogram.observe(.milliseconds(milliseconds)) }
        #expect(histogram.cumulativeCounts == [2, 4, 4])
        #expect(histogram.count == 5)
        #expect(histogram.sum == .milliseconds(1043))
    }
}
