import GotchuCore
import TestSupport
import Testing

/// Tests of the whole nearness decision in a model of radio reception (`ModelTill`), with limits on
/// late and false taps. `make bench BENCH=nearness` compares more situations with the optimum.
@Suite("The nearness decision in a model of radio reception")
struct NearnessModelTests {
    /// The number of trials. Situations of half a minute take half as many.
    private static let trials = 400

    /// Returns the outcomes of all trials.
    ///
    /// - Parameters:
    ///   - stopsAtTap: True if a trial ends with the first till's tap.
    ///   - answers: The server's answers, with seconds after the sender was first heard.
    private func trials(
        _ tills: [ModelTill],
        from start: Double = 0,
        until end: Double,
        stopsAtTap: Bool = false,
        _ answers: (Int) -> (resolution: Presence.Resolution, delay: Double)? = { _ in nil }
    ) async -> [ModelTrial] {
        var random = SeededGenerator("the model", seed: 1)
        var trials: [ModelTrial] = []
        for _ in 0..<Self.trials / (end - start < 30 ? 1 : 2) {
            await Task.yield()
            let events = modelEvents(of: tills, from: start, until: end, &random)
            var rule = ShippedRule(from: start)
            for (sender, heard) in Dictionary(grouping: events, by: \.sender) {
                guard let sender, let answer = answers(sender) else { continue }
                rule.answer(answer.resolution, about: sender, at: heard[0].second + answer.delay)
            }
            trials.append(ModelTrial(events, stopsAtTap: stopsAtTap) { rule.taps(after: $0) })
        }
        return trials
    }

    /// Returns the time within which a share of the trials had the value; infinite if fewer had it.
    private func time(
        _ trials: [ModelTrial],
        within share: Double = 0.5,
        _ value: (ModelTrial) -> Double? = { $0.first[0] }
    ) -> Double {
        ModelTrial.quantile(share, of: trials.map { value($0) ?? .infinity })
    }

    private func share(
        _ trials: [ModelTrial],
        _ has: (ModelTrial) -> Bool = { $0.first[0] != nil }
    ) -> Double {
        Double(trials.count(where: has)) / Double(trials.count)
    }

    private func mean(_ trials: [ModelTrial], _ value: (ModelTrial) -> Double) -> Double {
        trials.reduce(0) { $0 + value($1) } / Double(trials.count)
    }

    /// A situation in which the first till is held, with limits in seconds.
    struct Held: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let till: ModelTill
        var other: ModelTill?
        var start = 0.0
        var median = Double.infinity
        var percentile90 = Double.infinity
        /// The limit on the share of trials in which the other till is a tap.
        var wrong = 0.0
    }

    static let heldTills: [Held] = [
        Held(testDescription: "5 cm", till: ModelTill(0.05), median: 0.2),
        Held(testDescription: "10 cm", till: ModelTill(0.1), median: 0.45),
        Held(
            testDescription: "5 cm, loss 70 %",
            till: ModelTill(0.05).with { $0.loss = 0.7 },
            median: 0.6
        ),
        Held(
            testDescription: "5 cm behind a hand of -10 dB",
            till: ModelTill(0.05).with { $0.gain = -10 },
            median: 1.3,
            percentile90: 4
        ),
        Held(
            testDescription: "from 5 m to 8 cm",
            till: ModelTill { $0 < 0 ? 5 : 0.08 }.with { $0.sigma = 2 },
            start: -5,
            median: 0.9
        ),
        Held(
            testDescription: "from 5 m to 10 cm",
            till: ModelTill { $0 < 0 ? 5 : 0.1 },
            start: -5,
            median: 1.4
        ),
        Held(
            testDescription: "from 1 m to 5 cm, reported once a second",
            till: ModelTill { $0 < 0 ? 1 : 0.05 }.with { $0.quiet = 1 },
            start: -5,
            percentile90: 2.6
        ),
        Held(
            testDescription: "5 cm, another till at 1 m",
            till: ModelTill(0.05),
            other: ModelTill(1),
            median: 0.25
        ),
        Held(
            testDescription: "5 cm, another till 30 cm from it",
            till: ModelTill(0.05),
            other: ModelTill(0.3),
            median: 0.25,
            wrong: 0.01
        ),
        Held(
            testDescription: "10 cm, another till 30 cm from it",
            till: ModelTill(0.1),
            other: ModelTill(0.28),
            median: 0.6,
            percentile90: 2.5,
            wrong: 0.01
        ),
    ]

    @Test("A till that is held is a tap in time, and no other till is", arguments: heldTills)
    func isTap(_ situation: Held) async {
        let trials = await trials(
            [situation.till] + (situation.other.map { [$0] } ?? []),
            from: situation.start,
            until: situation.other == nil ? 12 : 6,
            stopsAtTap: situation.other == nil
        )
        #expect(share(trials) >= 0.99)
        #expect(time(trials) <= situation.median)
        #expect(time(trials, within: 0.9) <= situation.percentile90)
        #expect(share(trials) { $0.first[1] != nil } <= situation.wrong)
    }

    /// With the default, one advertisement alone decides only at -32 dBm or more.
    @Test(
        "A till with rare advertisements is a tap within 7 s in 95 % of the trials",
        arguments: [1.28, 2.0]
    )
    func slow(interval: Double) async {
        let till = ModelTill(0.05).with {
            $0.interval = interval
            $0.loss = interval < 2 ? 0.3 : 0
        }
        let found = share(await trials([till], until: 7, stopsAtTap: true))
        #expect(found >= 0.95, "\(found)")
    }

    /// A situation in which the till is not held, with a limit on the share of trials with a tap.
    struct Away: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let till: ModelTill
        var end = 30.0
        var limit = 0.01
    }

    static let otherTills: [Away] = [
        Away(testDescription: "0.5 m", till: ModelTill(0.5)),
        Away(testDescription: "loss 30 %", till: ModelTill(0.5).with { $0.loss = 0.3 }),
        Away(
            testDescription: "every 250 ms, loss 30 %",
            till: ModelTill(0.5).with {
                $0.interval = 0.25
                $0.loss = 0.3
            }
        ),
        Away(
            testDescription: "every 1.28 s, loss 30 %",
            till: ModelTill(0.5).with {
                $0.interval = 1.28
                $0.loss = 0.3
            }
        ),
        Away(
            testDescription: "noise of 6 dB",
            till: ModelTill(0.5).with { $0.sigma = 6 },
            limit: 0.1
        ),
        Away(testDescription: "bursts of three", till: ModelTill(0.5).with { $0.burst = 3 }),
        Away(
            testDescription: "passed at 12 cm",
            till: ModelTill { (($0 - 2) * ($0 - 2) + 0.12 * 0.12).squareRoot() },
            end: 4,
            limit: 0.02
        ),
    ]

    @Test("A till that is not held is seldom a tap", arguments: otherTills)
    func isNoTap(_ situation: Away) async {
        let trials = await trials([situation.till], until: situation.end, stopsAtTap: true)
        let found = share(trials)
        #expect(found <= situation.limit, "\(found)")
    }

    @Test("A tap ends at most 1.2 s after the till is gone, in the median")
    func leaves() async {
        let trials = await trials([ModelTill { $0 < 0 ? 0.05 : 1 }], from: -4, until: 8)
        #expect(time(trials) { $0.ended } <= 1.2)
    }

    @Test("A till that is held still for 30 s stays a tap", arguments: [0.1, 0.2])
    func still(metres: Double) async {
        let trials = await trials([ModelTill(metres)], until: 30)
        let begun = mean(trials) { Double($0.begun) }
        #expect(share(trials) >= 0.99)
        #expect(begun <= 1.05, "\(begun)")
    }

    @Test("Half way between two tills, some till is a tap in at most 4 % of the time")
    func between() async {
        let trials = await trials([ModelTill(0.15), ModelTill(0.15)], until: 30)
        let tapped = mean(trials) { $0.own + $0.others } / 30
        #expect(tapped <= 0.04, "\(tapped)")
    }

    @Test("A louder till a metre away is seldom a tap, even if a hand covers the near one")
    func shaded() async {
        let tills = [
            ModelTill(1).with { $0.gain = 8 }, ModelTill(0.1).with { $0.gain = -10 },
        ]
        let found = share(await trials(tills, until: 6))
        #expect(found <= 0.02, "\(found)")
    }

    /// A forged EID that is the strongest is a tap until the server denies it; it cannot be paid.
    @Test("Forged EIDs, each denied after 0.3 s, delay a tap by little and are hardly taps")
    func forged() async throws {
        let session = try #require(SessionID(rawValue: "s"))
        let forger = ModelTill(0.05).with { $0.eidLifetime = 1.5 }
        let trials = await trials([ModelTill(0.05), forger], until: 15) {
            ($0 == 0 ? .session(session) : .noSession, 0.3)
        }
        #expect(share(trials) == 1)
        #expect(time(trials) <= 0.5)
        #expect(mean(trials, \.own) / 15 >= 0.75)
        #expect(mean(trials, \.others) / 15 <= 0.02)
    }

    @Test("A till heard every 3.5 s is a tap less than twice a minute, and every 10 s more often")
    func rarest() async {
        func taps(_ interval: Double) async -> (share: Double, perMinute: Double) {
            let till = ModelTill(0.05).with {
                $0.interval = interval
                $0.sigma = 2
            }
            let trials = await trials([till], until: 60)
            return (share(trials), mean(trials) { Double($0.begun) })
        }
        let often = await taps(3.5)
        #expect(often.share >= 0.95 && often.perMinute < 2, "\(often)")
        let seldom = await taps(10)
        #expect(seldom.share >= 0.8 && seldom.perMinute > often.perMinute, "\(seldom)")
    }
}
