/// A Prometheus histogram of durations. Pure.
package struct Histogram: Equatable, Sendable {
    /// The upper bounds of the buckets, ascending; longer observations are in no bucket.
    package let bounds: [Duration]
    /// The sum of all observations.
    package private(set) var sum: Duration = .zero
    /// The number of observations.
    package private(set) var count = 0
    private var counts: [Int]

    package init(bounds: [Duration]) {
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "bounds ascend")
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count)
    }

    /// Buckets for local operations, such as delivering an event or syncing the disk.
    package static let local = Histogram(
        bounds: [
            .microseconds(100), .microseconds(250), .microseconds(500), .milliseconds(1),
            .microseconds(2500), .milliseconds(5), .milliseconds(10), .milliseconds(25),
            .milliseconds(50), .milliseconds(100), .milliseconds(250), .seconds(1), .seconds(5),
        ]
    )

    /// Buckets for times that a person waits.
    package static let human = Histogram(
        bounds: [
            .milliseconds(250), .milliseconds(500), .seconds(1), .milliseconds(1500), .seconds(2),
            .seconds(3), .seconds(5), .seconds(10), .seconds(20), .seconds(60), .seconds(300),
        ]
    )

    package mutating func observe(_ duration: Duration) {
        sum += duration
        count += 1
        // Only this bucket is counted; `cumulativeCounts` adds up the lower ones.
        guard let index = bounds.firstIndex(where: { duration <= $0 }) else { return }
        counts[index] += 1
    }

    /// The number of observations up to each bound, in the order of `bounds`.
    package var cumulativeCounts: [Int] {
        var total = 0
        return counts.map { count in
            total += count
            return total
        }
    }
}
