import Glibc
import GotchuCore

/// A rule that decides which senders are taps.
protocol Rule {
    /// Applies an event.
    ///
    /// - Returns: The senders that are taps now.
    mutating func apply(_ event: ModelEvent) -> Set<Int>
    /// Stores that the payment server answers about a sender at a second: that its session is open,
    /// or that it has none.
    mutating func answer(about sender: Int, isOpen: Bool, at second: Double)
}

/// The shipped decision.
struct Shipped: Rule {
    private var rule: ShippedRule

    init(certainty: Double, from start: Double) {
        var policy = ProximityPolicy()
        policy.certainty = certainty
        self.init(policy, from: start)
    }

    init(_ policy: ProximityPolicy, from start: Double) {
        rule = ShippedRule(policy, from: start)
    }

    mutating func apply(_ event: ModelEvent) -> Set<Int> { rule.taps(after: event) }

    mutating func answer(about sender: Int, isOpen: Bool, at second: Double) {
        guard isOpen else { return rule.answer(.noSession, about: sender, at: second) }
        guard let session = SessionID(rawValue: "s\(sender)") else { preconditionFailure("an id") }
        rule.answer(.session(session), about: sender, at: second)
    }
}

/// The estimate of one sender's level and zones.
protocol Estimate {
    /// The lead that a sender needs must have lasted this long, in seconds.
    static var leadTime: Double { get }
    var level: Double { get }
    var isTap: Bool { get }
    var isNear: Bool { get }
    /// - Parameter gap: The seconds since the sample before; `nil` for the first.
    mutating func add(_ rssi: Double, gap: Double?, at second: Double)
    mutating func advance(to second: Double)
    /// Returns true if this one is clearly nearer than another by levels that were ranked.
    func leads(_ other: Self, by difference: Double) -> Bool
}

/// The parts that the rule of commit 5df1adf2 and the optimum share: silence, answers of the payment
/// server that are late, and the lead of the nearest.
struct Ranking<Estimator: Estimate>: Rule {
    private struct Track {
        var estimate: Estimator
        let first: Double
        var last: Double
        var interval: Double?
        var due = Double.infinity
    }

    private let make: () -> Estimator
    private var tracks: [Int: Track] = [:]
    private var answers: [Int: Double] = [:]
    private var denials: [Int: Double] = [:]
    private var leader: (sender: Int, since: Double)?

    init(_ make: @escaping () -> Estimator) { self.make = make }

    mutating func answer(about sender: Int, isOpen: Bool, at second: Double) {
        if isOpen { answers[sender] = second } else { denials[sender] = second }
    }

    mutating func apply(_ event: ModelEvent) -> Set<Int> {
        if let sender = event.sender {
            hear(sender, Double(event.rssi), at: event.second)
        } else {
            tracks = tracks.filter { $0.value.due > event.second }
            for sender in tracks.keys { tracks[sender]?.estimate.advance(to: event.second) }
        }
        return taps(at: event.second)
    }

    private mutating func hear(_ sender: Int, _ rssi: Double, at second: Double) {
        var track = tracks[sender] ?? Track(estimate: make(), first: second, last: second)
        let gap = tracks[sender].map { second - $0.last }
        if let gap, gap > 0 { track.interval = track.interval.map { $0 + (gap - $0) / 4 } ?? gap }
        track.last = second
        track.due = second + min(12, track.interval.map { max(1.5, 5 * $0) } ?? 4)
        track.estimate.add(rssi, gap: gap, at: second)
        tracks[sender] = track
    }

    private mutating func taps(at second: Double) -> Set<Int> {
        let tracks = tracks.filter { (denials[$0.key] ?? .infinity) > second }
        let inReach = tracks.filter { $0.value.estimate.isTap || $0.value.estimate.isNear }
        let hasSession = inReach.keys.contains { (answers[$0] ?? .infinity) <= second }
        let levels = tracks.mapValues { _ in 0.0 }.merging(
            tracks.map { sender, track in
                let isLate =
                    hasSession && (answers[sender] ?? .infinity) > second
                    && track.first <= second - 0.5
                return (sender, track.estimate.level - (isLate ? 12 : 0))
            }
        ) { $1 }
        let leading = tracks.first { sender, track in
            tracks.allSatisfy { other, rival in
                other == sender
                    || track.estimate.leads(
                        rival.estimate,
                        by: (levels[sender] ?? 0) - (levels[other] ?? 0)
                    )
            }
        }
        .map(\.key)
        if leader?.sender != leading { leader = leading.map { ($0, second) } }
        guard let leader, tracks[leader.sender]?.estimate.isTap == true,
            tracks.count == 1 || second - leader.since >= Estimator.leadTime - 1e-9
        else { return [] }
        return [leader.sender]
    }
}

/// The estimate and the gates of commit 5df1adf2.
struct Before: Estimate {
    static let leadTime = 0.3

    private struct Gate {
        let enter: Double
        let leave: Double
        var isInside = false
        var evidence = 0.0
        var hasSingleSample = true
        var aboveSince: Double?
        var belowSince: Double?

        mutating func add(_ level: Double, at second: Double) {
            if level >= enter {
                evidence += max(1, level - enter)
                hasSingleSample = aboveSince == nil
                aboveSince = aboveSince ?? second
            } else {
                evidence = 0
                aboveSince = nil
            }
            belowSince = level < leave ? belowSince ?? second : nil
            advance(to: second)
        }

        mutating func advance(to second: Double) {
            if let belowSince, second - belowSince >= 1 - 1e-9 { isInside = false }
            guard let aboveSince, evidence >= 10 else { return }
            if second - aboveSince >= (hasSingleSample ? 0.7 : 0.25) - 1e-9 { isInside = true }
        }
    }

    private var samples: [Double] = []
    private(set) var level = -Double.infinity
    private var tap = Gate(enter: -45, leave: -55)
    private var near = Gate(enter: -60, leave: -68)

    var isTap: Bool { tap.isInside }
    var isNear: Bool { near.isInside }

    mutating func add(_ rssi: Double, gap: Double?, at second: Double) {
        samples = samples.suffix(4) + [rssi]
        let sorted = samples.sorted()
        let median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
        if let gap {
            let average = level + (1 - exp(-max(0, gap) / 0.3)) * (median - level)
            level = min(median + 6, max(median - 6, average))
        } else {
            level = median
        }
        tap.add(level, at: second)
        near.add(level, at: second)
    }

    mutating func advance(to second: Double) {
        tap.advance(to: second)
        near.advance(to: second)
    }

    func leads(_ other: Self, by difference: Double) -> Bool { difference >= 6 }
}

/// The optimum under the model: a Bayesian filter over the level, which knows the model's noise, its
/// correlation, the channels and the interval. The level jumps 0.1 times a second.
struct Optimum: Estimate {
    static let leadTime = 0.0
    private static let levels = Array(stride(from: -86.0, to: -19, by: 2))
    private static let channels = [-3.0, 0, 3]
    private static let deviation = 4.0

    /// The log odds needed to enter and to leave.
    private static let certainty = 3.0
    /// The lead needed, in its standard deviations.
    private static let leadDeviations = 2.0
    /// The time between two advertisements, in seconds.
    let interval: Double
    private(set) var isTap = false
    private(set) var isNear = false
    private(set) var level = -Double.infinity
    private var variance = 100.0
    /// The probability of each level and channel.
    private var weights: [Double] = []
    private var last = 0.0

    init(interval: Double) {
        self.interval = interval + 0.005
    }

    private static func density(_ x: Double, _ variance: Double) -> Double {
        exp(-0.5 * x * x / variance) / variance.squareRoot()
    }

    mutating func add(_ rssi: Double, gap: Double?, at second: Double) {
        let fresh = 1 / Double(3 * Self.levels.count)
        let square = Self.deviation * Self.deviation
        var next = [Double](repeating: 0, count: 3 * Self.levels.count)
        let steps = max(1, ((gap ?? 0) / interval).rounded())
        let correlation = pow(0.7, steps)
        let jump = 1 - exp(-0.1 * (gap ?? 0))
        for (row, level) in Self.levels.enumerated() {
            for (column, channel) in Self.channels.enumerated() {
                let error = rssi - level - channel
                let restart = Self.density(error, square) * fresh
                var carried = 0.0
                if gap != nil {
                    for (before, other) in Self.channels.enumerated() {
                        let expected = correlation * (last - level - other)
                        carried +=
                            Self.density(error - expected, square * (1 - correlation * correlation))
                            / 3 * weights[3 * row + before]
                    }
                }
                next[3 * row + column] =
                    gap == nil ? restart : (1 - jump) * carried + jump * restart
            }
        }
        let sum = next.reduce(0, +) + 1e-300
        weights = next.map { $0 / sum }
        last = rssi
        summarize()
    }

    private mutating func summarize() {
        var (mean, square, tap, near) = (0.0, 0.0, 0.0, 0.0)
        for (row, level) in Self.levels.enumerated() {
            let weight = weights[3 * row] + weights[3 * row + 1] + weights[3 * row + 2]
            mean += weight * level
            square += weight * level * level
            if level >= -46 { tap += weight }
            if level >= -62 { near += weight }
        }
        level = mean
        variance = square - mean * mean + 1
        isTap = isInside(isTap, tap)
        isNear = isInside(isNear, near)
    }

    private func isInside(_ before: Bool, _ probability: Double) -> Bool {
        let odds = log((probability + 1e-12) / (1 - probability + 1e-12))
        return odds >= Self.certainty || before && odds > -Self.certainty
    }

    mutating func advance(to second: Double) {}

    func leads(_ other: Self, by difference: Double) -> Bool {
        difference >= 6
            && difference >= Self.leadDeviations * (variance + other.variance).squareRoot()
    }
}
