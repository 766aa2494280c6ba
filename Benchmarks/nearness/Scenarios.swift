import Glibc

/// A situation in the model.
struct Scenario {
    enum Question {
        /// The time until the first till is a tap.
        case held
        /// The share of trials in which the first till, which is not held, is a tap.
        case away
        /// A till is held beside another one: the time until it is a tap, and the share of trials in
        /// which the other one is a tap.
        case beside
        /// The first till leaves at second 0: the time until it is no tap.
        case leaves
        /// A till is held still: the taps begun, and the share of the time that is a tap.
        case still
        /// No till is held clearly: the share of the time in which some till is a tap.
        case between
        /// Forged EIDs beside the first till: the time until it is a tap, and the shares of the time
        /// in which it or a forged one, which cannot be paid, is a tap.
        case forged
    }

    let name: String
    let question: Question
    let tills: [ModelTill]
    /// The second at which the tills begin to advertise. What is measured begins at second 0.
    var start = 0.0
    let end: Double
    /// The medians in seconds that an earlier comparison found for the rule of 5df1adf2 and for the
    /// optimum, in another program (docs/benchmarks.md).
    var published: (before: Double, optimum: Double)?
    /// The time in seconds after which the payment server denies a forged EID; `nil` if its answers
    /// never come.
    var denial: Double?
    /// A Boolean that is true if the aims do not count the row.
    var isExtra = false
    /// A Boolean that is true for a row of the queue: a till at half a metre for 30 s.
    var isQueue = false
}

private func jump(_ from: Double, _ to: Double) -> @Sendable (Double) -> Double {
    { $0 < 0 ? from : to }
}

extension Scenario {
    static let all = held + extra + away + others

    private static func held(
        _ name: String,
        _ metres: Double,
        until end: Double = 6,
        _ published: (Double, Double)? = nil,
        _ change: (inout ModelTill) -> Void = { _ in }
    ) -> Self {
        comes(name, { _ in metres }, from: 0, until: end, published, change)
    }

    private static let held: [Self] = [
        held("5 cm", 0.05, (0.36, 0.05)),
        held("10 cm", 0.1, (0.38, 0.09)),
        held("5 cm, loss 30 %", 0.05, (0.40, 0.08)) { $0.loss = 0.3 },
        held("5 cm, loss 70 %", 0.05, (0.65, 0.24)) { $0.loss = 0.7 },
        held("10 cm, loss 30 %", 0.1, (0.40, 0.23)) { $0.loss = 0.3 },
        held("10 cm, loss 70 %", 0.1, (0.80, 0.48)) { $0.loss = 0.7 },
        held("5 cm, every 152 ms", 0.05, (0.39, 0.08)) { $0.interval = 0.152 },
        held("5 cm, every 285 ms", 0.05, (0.43, 0.15)) { $0.interval = 0.285 },
        held("5 cm, every 1.28 s", 0.05, until: 12, (1.60, 0.74)) { $0.interval = 1.28 },
        held("5 cm, every 1.28 s, loss 30 %", 0.05, until: 12, (2.00, 1.00)) {
            $0.interval = 1.28
            $0.loss = 0.3
        },
        held("10 cm, every 1.28 s", 0.1, until: 12, (2.15, 1.23)) { $0.interval = 1.28 },
        held("5 cm, every 2 s", 0.05, until: 12, (2.20, 1.07)) { $0.interval = 2 },
        held("5 cm, sigma 3", 0.05, (0.36, 0.05)) { $0.sigma = 3 },
        held("5 cm, sigma 6", 0.05, (0.37, 0.06)) { $0.sigma = 6 },
        held("10 cm, sigma 3", 0.1) { $0.sigma = 3 },
        held("10 cm, sigma 6", 0.1, (0.39, 0.09)) { $0.sigma = 6 },
        held("5 cm, hand -10 dB", 0.05, until: 12, (0.54, 0.68)) { $0.gain = -10 },
        held("10 cm, hand -5 dB", 0.1, until: 12, (0.82, 1.42)) { $0.gain = -5 },
        held("5 cm, +10 dB", 0.05, (0.36, 0.05)) { $0.gain = 10 },
        held("5 cm, -5 dB", 0.05) { $0.gain = -5 },
        held("5 cm, +5 dB", 0.05) { $0.gain = 5 },
        held("10 cm, +5 dB", 0.1) { $0.gain = 5 },
        held("5 cm, saturated at -40 dBm", 0.05, (0.37, 0.16)) { $0.saturation = -40 },
        held("5 cm, reported once a second", 0.05, until: 12, (0.80, 0.06)) { $0.quiet = 1 },
        held("10 cm, reported once a second", 0.1, until: 12, (1.11, 0.10)) { $0.quiet = 1 },
        comes("5 m to 8 cm, sigma 2", jump(5, 0.08), from: -5, (0.64, 0.07)) { $0.sigma = 2 },
        comes("5 m to 8 cm", jump(5, 0.08), from: -5),
        comes("1 m to 5 cm", jump(1, 0.05), from: -5, (0.59, 0.06)),
        comes("walks up at 1 m/s to 5 cm", { max(0.05, 0.05 - $0) }, from: -4, (0.52, 0.09)),
        comes("hand from 60 to 5 cm in 0.4 s", hand, from: -4, (0.54, 0.08)),
        comes("1 m to 5 cm, once a second", jump(1, 0.05), from: -5, until: 12, (3.43, 0.31)) {
            $0.quiet = 1
        },
        comes("1 m to 5 cm, every 1.28 s", jump(1, 0.05), from: -6, until: 12, (4.40, 0.70)) {
            $0.interval = 1.28
        },
    ]

    /// Rows that the aims do not count: a till beyond the zone, and tills held less close.
    private static let extra: [Self] = [
        held("10 cm, hand -10 dB", 0.1, until: 12) { $0.gain = -10 },
        comes("5 m to 10 cm", jump(5, 0.1), from: -5),
        comes("1 m to 10 cm", jump(1, 0.1), from: -5),
    ].map { row in
        var row = row
        row.isExtra = true
        return row
    }

    private static let hand: @Sendable (Double) -> Double = { second in
        second < -0.4 ? 0.6 : max(0.05, 0.05 - second * 0.55 / 0.4)
    }

    private static func comes(
        _ name: String,
        _ metres: @escaping @Sendable (Double) -> Double,
        from start: Double,
        until end: Double = 6,
        _ published: (Double, Double)? = nil,
        _ change: (inout ModelTill) -> Void = { _ in }
    ) -> Self {
        Self(
            name: name,
            question: .held,
            tills: [ModelTill(metres).with(change)],
            start: start,
            end: end,
            published: published.map { (before: $0.0, optimum: $0.1) }
        )
    }

    private static func away(
        _ name: String,
        _ metres: Double = 0.5,
        isQueue: Bool = false,
        _ change: (inout ModelTill) -> Void = { _ in }
    ) -> Self {
        Self(
            name: name,
            question: .away,
            tills: [ModelTill(metres).with(change)],
            end: 30,
            isQueue: isQueue
        )
    }

    /// A till that is passed, after two seconds at 1 m/s.
    private static func passed(_ name: String, _ metres: Double, speed: Double = 1) -> Self {
        let moment = 1 + 1 / speed
        return Self(
            name: name,
            question: .away,
            tills: [ModelTill { hypot(speed * ($0 - moment), metres) }],
            end: 2 * moment
        )
    }

    private static let away: [Self] = [
        away("0.5 m for 30 s", isQueue: true),
        away("0.5 m, loss 30 %", isQueue: true) { $0.loss = 0.3 },
        away("0.5 m, every 250 ms, loss 30 %", isQueue: true) {
            $0.interval = 0.25
            $0.loss = 0.3
        },
        away("0.5 m, every 1.28 s, loss 30 %", isQueue: true) {
            $0.interval = 1.28
            $0.loss = 0.3
        },
        away("0.5 m, every 500 ms") { $0.interval = 0.5 },
        away("0.5 m, reported once a second") { $0.quiet = 1 },
        away("0.5 m, sigma 3") { $0.sigma = 3 },
        away("0.5 m, sigma 6") { $0.sigma = 6 },
        away("0.5 m, -5 dB") { $0.gain = -5 },
        away("0.5 m, +5 dB") { $0.gain = 5 },
        away("0.5 m, +10 dB") { $0.gain = 10 },
        away("1 m, +10 dB", 1) { $0.gain = 10 },
        away("1 m, sigma 6", 1) { $0.sigma = 6 },
        away("0.3 m", 0.3),
        away("0.5 m, three reports within 2 ms") { $0.burst = 3 },
        away("0.5 m, correlation 0.95") { $0.correlation = 0.95 },
        away("0.5 m, channels fixed (5 dB), sigma 2") {
            $0.fixedChannels = 5
            $0.sigma = 2
        },
        away("0.5 m, 2 % of samples +20 dB") { $0.strays = (0.02, 20) },
        away("1 m, 2 % of samples +20 dB", 1) { $0.strays = (0.02, 20) },
        passed("passed at 12 cm, 1 m/s", 0.12),
        passed("passed at 12 cm, 0.5 m/s", 0.12, speed: 0.5),
        passed("passed at 20 cm, 1 m/s", 0.2),
    ]

    private static let others: [Self] = [
        beside("5 cm, and one at 1 m", 0.05, ModelTill(1)),
        beside("5 cm, 30 cm apart", 0.05, ModelTill(0.3)),
        beside("10 cm, 30 cm apart", 0.1, ModelTill(0.28)),
        beside("10 cm, and one at 1 m, +10 dB", 0.1, ModelTill(1).with { $0.gain = 10 }),
        beside("10 cm behind -10 dB, and one at 1 m, +8 dB", 0.1, ModelTill(1).with { $0.gain = 8 })
        {
            $0.gain = -10
        },
        beside("5 cm, 30 cm apart, once a second", 0.05, ModelTill(0.3).with { $0.quiet = 1 }) {
            $0.quiet = 1
        },
        Self(
            name: "half way between two, 30 cm apart",
            question: .between,
            tills: [ModelTill(0.15), ModelTill(0.15)],
            end: 30
        ),
        leaves("5 cm to 1 m", jump(0.05, 1)),
        leaves("walks away at 1 m/s", { max(0.05, 0.05 + $0) }),
        leaves("5 cm to 1 m, once a second", jump(0.05, 1)) { $0.quiet = 1 },
        leaves("5 cm to 1 m, every 1.28 s", jump(0.05, 1)) { $0.interval = 1.28 },
        still("10 cm for 30 s", 0.1),
        still("20 cm for 30 s, the edge", 0.2),
        still("10 cm for 30 s, sigma 6", 0.1) { $0.sigma = 6 },
        forged("forged EIDs beside 5 cm, no answers", gain: 0),
        forged("forged EIDs beside 5 cm, +6 dB, no answers", gain: 6),
        forged("forged EIDs beside 5 cm, denied after 0.3 s", gain: 0, denial: 0.3),
        forged("forged EIDs beside 5 cm, +6 dB, denied after 0.3 s", gain: 6, denial: 0.3),
    ]

    private static func beside(
        _ name: String,
        _ metres: Double,
        _ other: ModelTill,
        _ change: (inout ModelTill) -> Void = { _ in }
    ) -> Self {
        Self(
            name: name,
            question: .beside,
            tills: [ModelTill(metres).with(change), other],
            end: other.quiet > 0 ? 12 : 6
        )
    }

    private static func leaves(
        _ name: String,
        _ metres: @escaping @Sendable (Double) -> Double,
        _ change: (inout ModelTill) -> Void = { _ in }
    ) -> Self {
        Self(
            name: name,
            question: .leaves,
            tills: [ModelTill(metres).with(change)],
            start: -6,
            end: 14
        )
    }

    private static func still(
        _ name: String,
        _ metres: Double,
        _ change: (inout ModelTill) -> Void = { _ in }
    ) -> Self {
        Self(name: name, question: .still, tills: [ModelTill(metres).with(change)], end: 30)
    }

    /// A till with an open session beside a sender that advertises another EID every 1.5 s.
    private static func forged(_ name: String, gain: Double, denial: Double? = nil) -> Self {
        let forger = ModelTill(0.05).with {
            $0.gain = gain
            $0.eidLifetime = 1.5
        }
        return Self(
            name: name,
            question: .forged,
            tills: [ModelTill(0.05), forger],
            end: 15,
            denial: denial
        )
    }
}
