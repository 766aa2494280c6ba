import Glibc
import GotchuCore

/// A till in a model of radio reception, as one receiver hears it.
///
/// The level in free space is -59 dBm at 1 m, and 20 dB lower at ten times the distance. The noise
/// is normal, and correlated between one advertisement and the next, as if a body or a hand were in
/// the way. The three advertising channels differ by 3 dB. Each advertisement may be lost, and is
/// up to 10 ms late (Bluetooth Core 5.4, 6.B.4.4.2.1). The model is not a measurement.
///
/// The tests of the decision and `make bench BENCH=nearness` share it.
struct ModelTill: Sendable {
    /// The distance in metres at a second.
    var metres: @Sendable (Double) -> Double
    /// The time in seconds between two advertisements.
    var interval = 0.1
    /// The share of advertisements that is lost.
    var loss = 0.0
    /// The standard deviation of the noise in dB.
    var sigma = 4.0
    /// A gain in dB: negative for a hand in front of the antenna, positive for a louder sender.
    var gain = 0.0
    var correlation = 0.7
    /// The difference in dB between two neighbouring channels.
    var channels = 3.0
    /// The minimum time in seconds between two reports: a duplicate filter.
    var quiet = 0.0
    /// The level in dBm at which the receiver saturates.
    var saturation = Double.infinity
    /// The share of stray samples, and the dB by which they are off.
    var strays = (share: 0.0, level: 0.0)
    /// The standard deviation in dB of offsets that each channel has all the time, instead of
    /// `channels`.
    var fixedChannels: Double?
    /// The number of reports of one advertisement, 0.7 ms apart: one for each channel.
    var burst = 1
    /// The time in seconds after which the sender changes its EID; `nil` if it keeps it.
    var eidLifetime: Double?

    init(_ metres: Double) { self.metres = { _ in metres } }

    init(_ metres: @escaping @Sendable (Double) -> Double) { self.metres = metres }

    /// Returns the till with some changes.
    func with(_ change: (inout Self) -> Void) -> Self {
        var till = self
        change(&till)
        return till
    }
}

/// An advertisement that was received, or a tick of the clock.
struct ModelEvent {
    let second: Double
    /// The advertisement's sender; `nil` for a tick. The index of the till, and for a till that
    /// changes its EID, that index plus the number of changes.
    let sender: Int?
    /// The level in dBm.
    var rssi = 0
}

/// Returns what one receiver hears of the tills, in the order of time, with a tick every 0.2 s.
///
/// - Parameter start: The second at which the tills begin to advertise, which may be before 0.
func modelEvents(
    of tills: [ModelTill],
    from start: Double = 0,
    until end: Double,
    _ random: inout some RandomNumberGenerator
) -> [ModelEvent] {
    var events = stride(from: start, to: end, by: 0.2).map { ModelEvent(second: $0, sender: nil) }
    for (index, till) in tills.enumerated() {
        let innovation = (1 - till.correlation * till.correlation).squareRoot()
        let offsets = (0..<3).map { _ in (till.fixedChannels ?? 0) * normal(&random) }
        var noise = normal(&random)
        var second = start + .random(in: 0..<till.interval, using: &random)
        var last = -Double.infinity
        while second < end {
            for report in 0..<till.burst {
                let channel = till.burst > 1 ? report : .random(in: 0...2, using: &random)
                var level = -59 - 20 * log10(till.metres(second)) + till.gain + noise * till.sigma
                let spread = till.channels * Double(channel - 1)
                level += till.fixedChannels == nil ? spread : offsets[channel]
                let isStray = Double.random(in: 0..<1, using: &random) < till.strays.share
                if isStray { level += till.strays.level }
                let isLost = Double.random(in: 0..<1, using: &random) < till.loss
                let at = second + 0.0007 * Double(report)
                if isLost || at - last < till.quiet || at >= end { continue }
                last = at
                let changes = till.eidLifetime.map { Int((at - start) / $0) } ?? 0
                let rssi = Int(min(till.saturation, level).rounded())
                events.append(ModelEvent(second: at, sender: index + changes, rssi: rssi))
            }
            second += till.interval + .random(in: 0..<0.01, using: &random)
            noise = till.correlation * noise + innovation * normal(&random)
        }
    }
    // A tick comes before an advertisement of the same moment.
    return events.sorted { ($0.second, $0.sender ?? -1) < ($1.second, $1.sender ?? -1) }
}

/// Returns a normally distributed number, by the method of Box and Muller.
private func normal(_ random: inout some RandomNumberGenerator) -> Double {
    let radius = (-2 * log(Double.random(in: 0.0000001..<1, using: &random))).squareRoot()
    return radius * cos(2 * .pi * Double.random(in: 0..<1, using: &random))
}

/// The decision of this package on the model's events.
struct ShippedRule {
    private var board: ProximityBoard
    private let start: Double
    private var now: Set<Int> = []
    private var answers: [(second: Double, eid: EID, resolution: Presence.Resolution)] = []

    /// - Parameter start: A second before the first event.
    init(_ policy: ProximityPolicy = ProximityPolicy(), from start: Double = 0) {
        board = ProximityBoard(policy: policy)
        self.start = start
    }

    static func eid(of sender: Int) -> EID {
        guard let eid = EID(String(firstEID + sender, radix: 16)) else {
            preconditionFailure("ten digits")
        }
        return eid
    }

    private static let firstEID = 0xA0_0000_0000

    private static func sender(of eid: EID) -> Int {
        guard let number = Int("\(eid)", radix: 16) else { preconditionFailure("ten digits") }
        return number - firstEID
    }

    /// Stores that the payment server answers about a sender at a second.
    mutating func answer(_ resolution: Presence.Resolution, about sender: Int, at second: Double) {
        answers.append((second, Self.eid(of: sender), resolution))
    }

    /// Applies an event.
    ///
    /// - Returns: The senders that are taps now.
    mutating func taps(after event: ModelEvent) -> Set<Int> {
        let time = MonotonicTime(sinceStart: .seconds(event.second - start))
        for answer in answers where answer.second <= event.second {
            board.record(answer.eid, answer.resolution)
        }
        let changes =
            event.sender.map { sender in
                board.add(
                    Sighting(
                        time: time,
                        eid: Self.eid(of: sender),
                        carrier: .serviceData,
                        rssi: RSSI(dBm: event.rssi),
                        adapter: "hci0"
                    )
                )
            } ?? board.advance(to: time)
        for eid in changes.changed.union(changes.lost) {
            let isTap = board[eid]?.verdict == .tap
            if isTap { now.insert(Self.sender(of: eid)) } else { now.remove(Self.sender(of: eid)) }
        }
        return now
    }
}

/// The outcome of one trial from second 0 on.
struct ModelTrial {
    /// The second at which each sender first was a tap.
    private(set) var first: [Int: Double] = [:]
    /// The number of taps of the first till that began.
    private(set) var begun = 0
    /// The second at which the first till was no tap any more.
    private(set) var ended: Double?
    /// The seconds in which the first till, or another sender, was a tap.
    private(set) var own = 0.0
    private(set) var others = 0.0

    /// - Parameters:
    ///   - stopsAtTap: True if the trial ends with the first till's tap.
    ///   - apply: Applies an event. Returns the senders that are taps then.
    init(_ events: [ModelEvent], stopsAtTap: Bool, _ apply: (ModelEvent) -> Set<Int>) {
        var taps: Set<Int> = []
        var since = 0.0
        for event in events {
            let before = taps
            taps = apply(event)
            guard event.second >= 0 else { continue }
            own += before.contains(0) ? event.second - since : 0
            others += before.contains { $0 > 0 } ? event.second - since : 0
            since = event.second
            for sender in taps where first[sender] == nil { first[sender] = event.second }
            if taps.contains(0), !before.contains(0) { begun += 1 }
            if before.contains(0), !taps.contains(0) { ended = ended ?? event.second }
            if stopsAtTap, first[0] != nil { return }
        }
    }

    /// Returns the number below which a share of the numbers lies.
    static func quantile(_ share: Double, of numbers: [Double]) -> Double {
        let sorted = numbers.sorted()
        return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
    }
}
