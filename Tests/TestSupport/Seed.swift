import Foundation

/// A random number generator for property tests. It prints its seed, which determines its numbers.
package struct SeededGenerator: RandomNumberGenerator {
    /// The seed. `GOTCHU_TEST_SEED` with this value repeats the run.
    package let seed: UInt64
    private var state: UInt64

    /// - Parameters:
    ///   - name: The test's name, printed with the seed.
    ///   - seed: A fixed seed. By default, the seed is `GOTCHU_TEST_SEED` or a random number.
    package init(_ name: String, seed: UInt64? = nil) {
        let given = ProcessInfo.processInfo.environment["GOTCHU_TEST_SEED"].flatMap { UInt64($0) }
        self.seed = seed ?? given ?? UInt64.random(in: 0...UInt64(UInt32.max))
        state = self.seed
        print("\(name): GOTCHU_TEST_SEED=\(self.seed)")
    }

    package mutating func next() -> UInt64 {
        // SplitMix64.
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
