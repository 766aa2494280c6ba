import GotchuCore
import TestSupport
import Testing

@testable import Contests

@Suite("Prizes, rules 1")
struct PrizeTests {
    @Test("With a single tier for the first rank, the winner of ten entries gets the whole pool")
    func winnerTakesAll() {
        let scores = (1...10).map { Sample.score($0, 10 - $0) }
        let prizes = Sample.prizes(5000, [Sample.tier(1, 1, 10_000)], scores)
        #expect(prizes.map(\.amount) == [5000] + [Int64](repeating: 0, count: 9))
        #expect(prizes.map(\.rank) == Array(1...10))
    }

    @Test("A pool of $1.50 with shares of 50, 25 and 25 percent pays 75, 38 and 37 cents")
    func seed() {
        let tiers = [
            Sample.tier(1, 1, 5000), Sample.tier(2, 2, 2500), Sample.tier(3, 3, 2500),
        ]
        let prizes = Sample.prizes(150, tiers, (1...3).map { Sample.score($0, 10 - $0) })
        #expect(prizes.map(\.amount) == [75, 38, 37])
    }

    @Test("The shares of ranks without an entry are divided among the other ranks")
    func fewEntries() {
        let prizes = Sample.prizes(5000, Sample.halves, (1...6).map { Sample.score($0, 10 - $0) })
        // The weights of the six ranks are 70, 17.5, 17.5, 5, 5 and 5. Their sum is 120.
        #expect(prizes.map(\.amount) == [2917, 729, 729, 209, 208, 208])
    }

    @Test("Three entries that tie for the first place share the prizes of three ranks")
    func ties() {
        let tiers = [
            Sample.tier(1, 1, 7000), Sample.tier(2, 2, 2000), Sample.tier(3, 3, 1000),
        ]
        let scores = [
            Sample.score(1, 9), Sample.score(2, 9), Sample.score(3, 9), Sample.score(4, 1),
        ]
        let prizes = Sample.prizes(1001, tiers, scores)
        #expect(prizes.map(\.amount) == [334, 334, 333, 0])
        #expect(prizes.map(\.rank) == [1, 1, 1, 4])
    }

    @Test(
        "Equal points are ranked by a tie-break value, and an entry without that value ranks last"
    )
    func tieBreaks() {
        let scores = [
            Sample.score(1, 9), Sample.score(2, 9, seconds: 8), Sample.score(3, 9, seconds: 7),
        ]
        let prizes = Sample.prizes(100, [Sample.tier(1, 1, 10_000)], scores)
        #expect(prizes.map(\.number) == [3, 2, 1] && prizes.map(\.rank) == [1, 2, 3])
    }

    @Test("An entry without a score has no rank and no prize")
    func unscored() {
        let scores = [Sample.score(1, 3), Sample.score(2, 5), Sample.score(1, nil)]
        let prizes = Sample.prizes(100, [Sample.tier(1, 1, 10_000)], scores, entries: [1, 2, 3])
        #expect(prizes.map(\.number) == [2] && prizes.map(\.amount) == [100])
        #expect(Sample.prizes(100, Sample.halves, [Sample.score(1, nil)]).isEmpty)
    }

    @Test("The rake and the commission are rounded down, and the pool is the pot without the rake")
    func division() {
        let terms = Sample.terms(fee: 333, rake: 1000, commission: 2500, prize: 50)
        let division = PrizeRules.Division(terms, entries: 7)
        #expect(division.rake == 233 && division.commission == 58)
        #expect(division.pool == 7 * 333 + 50 - 233)
    }

    @Test("Prizes sum to the pool, ignore the order of entries, and never grow from rank to rank")
    func property() {
        var random = SeededGenerator("prizes")
        for _ in 0..<(4_000 * effort) {
            let tiers = Self.tiers(using: &random)
            let count = Int64.random(in: 1...30, using: &random)
            let pool =
                [
                    0, 1, Int64.random(in: 0...100, using: &random),
                    Int64.random(in: 0...1_000_000_000_000, using: &random),
                ]
                .randomElement(using: &random) ?? 0
            let scores = (1...count).map { number in
                let isScored = Int.random(in: 0..<10, using: &random) > 0
                return Sample.score(
                    number,
                    isScored ? Int64.random(in: 0...6, using: &random) : nil
                )
            }
            let prizes = Sample.prizes(pool, tiers, scores, entries: Array(1...count))
            guard scores.contains(where: { $0.points != nil }) else {
                #expect(prizes.isEmpty)
                continue
            }
            let isRight =
                prizes.map(\.amount).reduce(0, +) == pool && prizes.allSatisfy { $0.amount >= 0 }
                && zip(prizes, prizes.dropFirst()).allSatisfy { better, worse in
                    better.rank == worse.rank
                        ? (0...1).contains(better.amount - worse.amount)
                        : better.amount >= worse.amount
                }
            #expect(isRight, "seed \(random.seed): \(pool) \(tiers) \(scores)")
            let numbers = (1...count).shuffled(using: &random)
            let others = scores.shuffled(using: &random)
            let shuffled = Sample.prizes(pool, tiers, others, entries: numbers)
            #expect(shuffled.elementsEqual(prizes) { $0 == $1 })
        }
    }

    /// Returns random tiers in which no rank gets more than the rank before it.
    private static func tiers(using random: inout SeededGenerator) -> [ContestTerms.Tier] {
        while true {
            let count = Int.random(in: 1...5, using: &random)
            let weights = (0..<count).map { _ in Int64.random(in: 1...100, using: &random) }
            let shares = Allocation.largestRemainder(10_000, weights: weights.sorted(by: >))
            var next: Int64 = 1
            let tiers = shares.map { share in
                let last = next + Int64.random(in: 0...6, using: &random)
                defer { next = last + 1 }
                return Sample.tier(next, last, share)
            }
            if Sample.terms(tiers: tiers).violation == nil { return tiers }
        }
    }
}
