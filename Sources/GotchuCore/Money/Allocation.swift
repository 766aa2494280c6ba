/// Functions that divide an amount in whole minor units; the parts always add up to it.
package enum Allocation {
    /// Divides an amount by weights. Each part is first its exact share, rounded down. The units
    /// left over then go to the parts with the largest remainders, one unit each. If remainders are
    /// equal, the earlier part comes first.
    ///
    /// - Parameters:
    ///   - total: Minor units, not negative.
    ///   - weights: Not negative; their sum is positive and fits 64 bits.
    /// - Returns: One part for each weight; their sum is `total`.
    package static func largestRemainder(_ total: Int64, weights: [Int64]) -> [Int64] {
        let sum = weights.reduce(0, +)
        precondition(total >= 0 && sum > 0 && weights.allSatisfy { $0 >= 0 })
        var parts: [Int64] = []
        var remainders: [Int64] = []
        parts.reserveCapacity(weights.count)
        remainders.reserveCapacity(weights.count)
        for weight in weights {
            // The product of two 63-bit factors needs 128 bits. The quotient is at most `total`.
            let product = UInt128(total) * UInt128(weight)
            let (part, remainder) = product.quotientAndRemainder(dividingBy: UInt128(sum))
            parts.append(Int64(part))
            remainders.append(Int64(remainder))
        }
        let left = Int(total - parts.reduce(0, +))
        let order = weights.indices.sorted { (-remainders[$0], $0) < (-remainders[$1], $1) }
        for index in order.prefix(left) { parts[index] += 1 }
        return parts
    }

    /// Divides an amount into equal shares. If units are left over, the first shares get one more
    /// each.
    ///
    /// - Parameters:
    ///   - total: Minor units, not negative.
    ///   - count: Positive.
    package static func equalShares(of total: Int64, count: Int) -> [Int64] {
        precondition(total >= 0 && count > 0)
        let (share, left) = total.quotientAndRemainder(dividingBy: Int64(count))
        return (0..<count).map { Int64($0) < left ? share + 1 : share }
    }
}
