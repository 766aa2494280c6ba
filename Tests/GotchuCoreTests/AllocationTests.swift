import TestSupport
import Testing

@testable import GotchuCore

@Suite("Allocation")
struct AllocationTests {
    @Test("Ten dollars in three equal parts are 3.34, 3.33 and 3.33")
    func dinner() {
        #expect(Allocation.equalShares(of: 1000, count: 3) == [334, 333, 333])
        #expect(Allocation.equalShares(of: 2, count: 4) == [1, 1, 0, 0])
        #expect(Allocation.equalShares(of: 0, count: 2) == [0, 0])
    }

    @Test("$1.50 at 50, 25 and 25 percent gives 75, 38 and 37 cents")
    func prizes() {
        #expect(Allocation.largestRemainder(150, weights: [50, 25, 25]) == [75, 38, 37])
        #expect(Allocation.largestRemainder(100, weights: [1, 1, 1]) == [34, 33, 33])
        #expect(Allocation.largestRemainder(1, weights: [0, 0, 7]) == [0, 0, 1])
    }

    @Test("The largest amounts and weights do not overflow")
    func extremes() {
        #expect(
            Allocation.largestRemainder(.max, weights: [.max - 1, 1]) == [.max - 1, 1]
        )
        #expect(Allocation.largestRemainder(.max, weights: [.max]) == [.max])
    }

    @Test("Parts sum to the whole, and each is within one unit of its exact share")
    func property() {
        var generator = SeededGenerator("allocation")
        for _ in 0..<(20_000 * effort) {
            let count = Int.random(in: 1...40, using: &generator)
            let weights = (0..<count).map { _ in Int64.random(in: 0...10_000, using: &generator) }
            guard weights.contains(where: { $0 > 0 }) else { continue }
            let total = Int64.random(in: 0...10_000_000_000, using: &generator)
            let parts = Allocation.largestRemainder(total, weights: weights)
            let sum = weights.reduce(0, +)
            #expect(parts.reduce(0, +) == total)
            for (part, weight) in zip(parts, weights) {
                let floor = Int64(Int128(total) * Int128(weight) / Int128(sum))
                #expect(part == floor || part == floor + 1)
                #expect(weight > 0 || part == 0)
            }
            let shares = Allocation.equalShares(of: total, count: count)
            #expect(shares.reduce(0, +) == total)
            #expect(shares == shares.sorted(by: >) && shares[0] - shares[count - 1] <= 1)
        }
    }
}
