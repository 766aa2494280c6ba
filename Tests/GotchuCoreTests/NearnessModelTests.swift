import Glibc
import GotchuCore
import TestSupport
import Testing

/// Tests of the whole nearness decision in a model of radio reception. They show the effect of a
/// changed threshold, filter or delay.
///
/// The level in free space is -59 dBm at 1 m, and 20 dB lower at ten times the distance. The noise
/// has a standard deviation of `sigma` dB. It has a correlation of 0.7 between one advertisement
/// and the next, as if a body or a hand were in the way. The three advertising channels differ by
/// 3 dB. Each advertisement may be lost, and is up to 10 ms late (Bluetooth Core 5.4,
/// 6.B.4.4.2.1). The model is not a measurement.
@Suite("The nearness decision in a model of radio reception", .timeLimit(.minutes(hangLimit)))
struct NearnessModelTests {
    private static let trials = 400

    /// An advertising till, as one receiver hears it.
    private struct Till {
        var metres: @Sendable (Double) -> Double
        var interval = 0.1
        var loss = 0.0
        var sigma = 4.0
        /// A gain in dB: negative for a hand in front of the antenna, positive for a louder sender.
        var gain = 0.0
    }

    /// One trial: the board receives the tills' advertisements from `start` on, which may be before
    /// second 0.
    private struct Trial {
        private var board = ProximityBoard()
        private var tills: [(till: Till, eid: EID, noise: Double, next: Double)] = []
        private let start: Double

        init(_ tills: [Till], since start: Double, _ random: inout SeededGenerator) {
            self.start = start
            self.tills = tills.enumerated().map { index, till in
                let eid = EID(literal: "000000000\(index)")
                let phase = Double.random(in: 0..<till.interval, using: &random)
                return (till, eid, Self.normal(&random) * till.sigma, start + phase)
            }
        }

        /// Runs until `end`, or until `tell` returns true. Calls `tell` for each change of a
        /// verdict from second 0 on.
        mutating func run(
            until end: Double,
            _ random: inout SeededGenerator,
            _ tell: (_ second: Double, _ till: Int, _ verdict: Verdict) -> Bool
        ) {
            var tick = start
            while let index = tills.indices.min(by: { tills[$0].next < tills[$1].next }) {
                let isTick = tick <= tills[index].next
                let second = isTick ? tick : tills[index].next
                guard second < end else { return }
                let changes: ProximityBoard.Changes
                if isTick {
                    tick += 0.2
                    changes = board.advance(to: time(second))
                } else {
                    guard let sighting = hear(index, at: second, &random) else { continue }
                    changes = board.add(sighting)
                }
                for (index, known) in tills.enumerated() where changes.changed.contains(known.eid) {
                    let verdict = board[known.eid]?.verdict ?? .far
                    if second >= 0, tell(second, index, verdict) { return }
                }
            }
        }

        private mutating func hear(
            _ index: Int,
            at second: Double,
            _ random: inout SeededGenerator
        ) -> Sighting? {
            let (till, eid, noise, _) = tills[index]
            let shaken = 0.7 * noise + (1 - 0.49).squareRoot() * till.sigma * Self.normal(&random)
            tills[index].noise = shaken
            tills[index].next += till.interval + Double.random(in: 0..<0.01, using: &random)
            let channel = 3 * Double(Int.random(in: -1...1, using: &random))
            guard Double.random(in: 0..<1, using: &random) >= till.loss else { return nil }
            let level = -59 - 20 * log10(till.metres(second)) + till.gain + noise + channel
            return Sighting(
                time: time(second),
                eid: eid,
                carrier: .serviceData,
                rssi: RSSI(dBm: Int(level.rounded())),
                adapter: "hci0"
            )
        }

        private func time(_ second: Double) -> MonotonicTime {
            MonotonicTime(sinceStart: .seconds(second - start))
        }

        /// Returns a normally distributed number, by the method of Box and Muller.
        private static func normal(_ random: inout SeededGenerator) -> Double {
            let radius = (-2 * log(Double.random(in: 0.0000001..<1, using: &random))).squareRoot()
            return radius * cos(2 * .pi * Double.random(in: 0..<1, using: &random))
        }
    }

    /// Returns the sorted times, in seconds, at which the till first has the verdict `tap`. Trials
    /// without this verdict are left out.
    private func taps(
        _ tills: [Till],
        of wanted: Int = 0,
        within seconds: Double,
        since start: Double = 0,
        _ name: String
    ) -> [Double] {
        var random = SeededGenerator(name, seed: 1)
        return (0..<Self.trials).compactMap { _ in
            var trial = Trial(tills, since: start, &random)
            var found: Double?
            trial.run(until: seconds, &random) { second, till, verdict in
                if till == wanted, verdict == .tap { found = second }
                return found != nil
            }
            return found
        }
        .sorted()
    }

    private func share(_ found: [Double]) -> Double { Double(found.count) / Double(Self.trials) }

    private func median(_ found: [Double]) -> Double {
        found.count > Self.trials / 2 ? found[Self.trials / 2] : .infinity
    }

    @Test(
        "A till at the device is a tap within 0.45 s in the median, or within 1 s with 70 % loss"
    )
    func held() {
        let still = taps([Till(metres: { _ in 0.05 })], within: 6, "held")
        #expect(share(still) == 1 && median(still) <= 0.45)
        let lossy = taps([Till(metres: { _ in 0.05 }, loss: 0.7)], within: 6, "lossy")
        #expect(share(lossy) >= 0.99 && median(lossy) <= 1)
        let away = taps([Till(metres: { _ in 0.1 })], within: 6, "a little away")
        #expect(share(away) >= 0.99 && median(away) <= 0.6)
    }

    @Test("A till that comes from 5 m is a tap after at most 0.9 s in the median")
    func approach() {
        let till = Till(metres: { $0 < 0 ? 5 : 0.08 }, sigma: 2)
        let found = taps([till], within: 6, since: -5, "approach")
        #expect(share(found) >= 0.99 && median(found) <= 0.9)
    }

    @Test("A till heard every 3.5 s is a tap less than twice a minute, and every 10 s more often")
    func rarest() {
        func taps(_ interval: Double) -> (share: Double, perMinute: Double) {
            var random = SeededGenerator("rarest", seed: 1)
            let till = Till(metres: { _ in 0.05 }, interval: interval, sigma: 2)
            let counts = (0..<Self.trials).map { _ in
                var trial = Trial([till], since: 0, &random)
                var count = 0
                trial.run(until: 60, &random) { _, _, verdict in
                    if verdict == .tap { count += 1 }
                    return false
                }
                return count
            }
            let share = Double(counts.count { $0 > 0 }) / Double(Self.trials)
            return (share, Double(counts.reduce(0, +)) / Double(Self.trials))
        }
        let often = taps(3.5)
        #expect(often.share >= 0.95 && often.perMinute < 2, "\(often)")
        let seldom = taps(10)
        #expect(seldom.share >= 0.95 && seldom.perMinute > 2, "\(seldom)")
    }

    @Test(
        "A till with rare advertisements is a tap within 6 s in 95 % of the trials",
        arguments: [1.28, 2.0]
    )
    func slow(interval: Double) {
        let loss = interval < 2 ? 0.3 : 0
        let till = Till(metres: { _ in 0.05 }, interval: interval, loss: loss)
        #expect(share(taps([till], within: 6, "slow")) >= 0.95)
    }

    @Test(
        "A till half a metre away for 30 s is a tap in at most 5 % of the trials",
        arguments: [(0.1, 0.0), (0.1, 0.3), (0.25, 0.3), (1.28, 0.3)]
    )
    func queue(interval: Double, loss: Double) {
        let till = Till(metres: { _ in 0.5 }, interval: interval, loss: loss)
        #expect(share(taps([till], within: 30, "queue")) <= 0.05)
    }

    @Test("A till a metre away is no tap beside a till at the device, and seldom if it is louder")
    func two() {
        let tills = [Till(metres: { _ in 0.05 }), Till(metres: { _ in 1 })]
        #expect(share(taps(tills, of: 0, within: 6, "two, the right one")) == 1)
        #expect(share(taps(tills, of: 1, within: 6, "two, the wrong one")) == 0)
        // A hand covers the near till, and the far till sends louder.
        let shaded = [
            Till(metres: { _ in 0.1 }, gain: -10), Till(metres: { _ in 1 }, gain: 8),
        ]
        #expect(share(taps(shaded, of: 1, within: 6, "shaded")) <= 0.1)
    }

    @Test("A till that is passed at a distance of 12 cm is a tap in at most 20 % of the trials")
    func past() {
        let walk = Till(metres: { second in
            let along = second - 2
            return (along * along + 0.12 * 0.12).squareRoot()
        })
        #expect(share(taps([walk], within: 4, "past")) <= 0.2)
    }
}
