import Glibc
import GotchuCore

/// The level of a radio heard at a distance: free-space loss, with noise from a seeded generator.
///
/// RSSI(d) = −59 − 20·log₁₀(d / 1 m) + N(0, σ): the log-distance model with exponent 2 and −59 dBm
/// at one metre, the usual calibration of a 0 dBm beacon.
struct PathLoss: Sendable {
    /// The level at one metre, in dBm.
    static let levelAtOneMetre = -59.0
    /// The shortest distance, in metres, that is used: the model does not apply below it.
    static let shortestDistance = 0.05

    private let noise: Double
    private var generator: SplitMix64

    /// - Parameter noise: The standard deviation of a measurement, in dB.
    init(noise: Double, seed: UInt64) {
        self.noise = noise
        generator = SplitMix64(state: seed)
    }

    mutating func rssi(atDistance distance: Double) -> RSSI? {
        let clear = Self.levelAtOneMetre - 20 * log10(max(distance, Self.shortestDistance))
        return RSSI(dBm: Int((clear + noise * gaussian()).rounded()))
    }

    /// A standard normal deviate (Box and Muller, 1958).
    private mutating func gaussian() -> Double {
        let u = Double.random(in: Double.leastNonzeroMagnitude..<1, using: &generator)
        let v = Double.random(in: 0..<1, using: &generator)
        return (-2 * log(u)).squareRoot() * cos(2 * .pi * v)
    }
}

/// A small random generator whose whole state is its seed (Steele, Lea and Flood, 2014).
struct SplitMix64: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
