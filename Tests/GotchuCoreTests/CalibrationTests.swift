import Foundation
import GotchuCore
import TestSupport
import Testing

@Suite("The calibration of an adapter")
struct CalibrationTests {
    private func levels(_ values: some Sequence<Int>) -> [RSSI] {
        values.compactMap { RSSI(dBm: $0) }
    }

    /// Returns samples that are spread evenly over the range `level` ± `spread` dB.
    private func around(_ level: Int, spread: Int = 2, count: Int = 60) -> [RSSI] {
        levels((0..<count).map { level - spread + $0 % (2 * spread + 1) })
    }

    @Test("Percentiles are computed by nearest rank, in any order of the samples")
    func percentiles() throws {
        let hundred = levels((1...100).map { -$0 }.shuffled())
        let all = try #require(LevelPercentiles(hundred))
        #expect((all.count, all.p10, all.p50, all.p90) == (100, -91, -51, -11))
        let one = try #require(LevelPercentiles(levels([-40])))
        #expect((one.p10, one.p50, one.p90) == (-40, -40, -40))
        #expect(LevelPercentiles([]) == nil)
    }

    @Test("The thresholds follow from the percentiles, and each zone has a dead band")
    func thresholds() throws {
        let calibration = try Calibration(tap: around(-35), metre: around(-60))
        #expect((calibration.tap.p10, calibration.metre.p90) == (-37, -58))
        #expect(calibration.tapThresholds == .init(enter: -42.25, leave: -48.25))
        #expect(calibration.nearThresholds == .init(enter: -63, leave: -69))
        #expect(calibration.isPlausible)
    }

    @Test("Levels that spread more count less, and levels that spread little count no more")
    func weight() throws {
        let steady = try Calibration(tap: around(-35), metre: around(-60))
        #expect(steady.weight == 0.4)
        let noisy = try Calibration(tap: around(-35), metre: around(-70, spread: 10))
        // From -78 to -62 dBm are 6.2 dB of deviation: 9 dB over its square.
        #expect(abs(noisy.metre.spread - 6.24) < 0.01)
        #expect(abs(noisy.weight - 0.231) < 0.001)
    }

    @Test("Accepted calibrations have hysteresis and ordered zones, and a level at 1 m ends a tap")
    func invariants() throws {
        var random = SeededGenerator("calibration")
        var accepted = 0
        for _ in 0..<2000 {
            let metre = Int.random(in: -100 ... -30, using: &random)
            let tap = metre + Int.random(in: -5...60, using: &random)
            let spread = Int.random(in: 0...12, using: &random)
            let (near, far) = (around(tap, spread: spread), around(metre, spread: spread))
            guard let calibration = try? Calibration(tap: near, metre: far) else { continue }
            accepted += 1
            let (tapping, nearing) = (calibration.tapThresholds, calibration.nearThresholds)
            #expect(tapping.enter - tapping.leave >= 4)
            #expect(nearing.enter - nearing.leave >= 4)
            #expect(nearing.enter < tapping.enter && nearing.leave < tapping.leave)
            #expect(tapping.leave > Double(calibration.metre.p90))
            #expect(tapping.enter < Double(calibration.tap.p10))
        }
        #expect(accepted > 500)
    }

    @Test("Too few samples at either distance are refused, and the refusal has their number")
    func tooFew() {
        let enough = around(-35)
        #expect(throws: Calibration.Refusal.tooFewSamples(place: .tap, count: 29)) {
            try Calibration(tap: around(-35, count: 29), metre: enough)
        }
        #expect(throws: Calibration.Refusal.tooFewSamples(place: .metre, count: 0)) {
            try Calibration(tap: enough, metre: [])
        }
    }

    @Test("Levels at the two distances that are less than 8 dB apart are refused as overlapping")
    func overlap() throws {
        #expect(throws: Calibration.Refusal.overlap(tap: -50, metre: -57)) {
            try Calibration(tap: around(-50, spread: 0), metre: around(-57, spread: 0))
        }
        #expect(throws: Calibration.Refusal.overlap(tap: -60, metre: -40)) {
            try Calibration(tap: around(-60, spread: 0), metre: around(-40, spread: 0))
        }
        _ = try Calibration(tap: around(-50, spread: 0), metre: around(-58, spread: 0))
        let refusal = Calibration.Refusal.overlap(tap: -60, metre: -40)
        #expect(refusal.sentence.contains("-60 dBm when held against the till"))
        #expect(refusal.advice.contains("gotchu-ctl calibrate"))
    }

    @Test("A decoded calibration whose levels were changed by hand is not plausible")
    func sound() throws {
        let good = try Calibration(tap: around(-35), metre: around(-60))
        let data = try JSONEncoder().encode(good)
        #expect(try JSONDecoder().decode(Calibration.self, from: data) == good)
        let text = String(decoding: data, as: UTF8.self)
        let planted = text.replacingOccurrences(of: "\"p10\":-37", with: "\"p10\":-57")
        #expect(planted != text)
        let bad = try JSONDecoder().decode(Calibration.self, from: Data(planted.utf8))
        #expect(!bad.isPlausible)
    }

    @Test(
        "An adapter uses its own calibration or the defaults, and a presence's reason shows which"
    )
    func board() throws {
        var policy = ProximityPolicy()
        policy.calibrations["hci1"] = try Calibration(tap: around(-65), metre: around(-90))
        let eid = try #require(EID("8bb71b3447"))
        for (adapter, verdict) in [("hci0", Verdict.far), ("hci1", .tap)] {
            var board = ProximityBoard(policy: policy)
            for step in 0..<20 {
                let time = MonotonicTime(sinceStart: .milliseconds(100 * step))
                _ = board.add(
                    Sighting(
                        time: time,
                        eid: eid,
                        carrier: .serviceData,
                        rssi: RSSI(dBm: -64),
                        adapter: adapter
                    )
                )
            }
            #expect(board[eid]?.verdict == verdict)
            let reason = board[eid]?.reason(margin: nil) ?? ""
            #expect(reason.hasSuffix(", as calibrated") == (adapter == "hci1"), "\(reason)")
        }
    }

    @Test("A new policy applies to EIDs that are already present")
    func replacement() throws {
        let eid = try #require(EID("8bb71b3447"))
        var board = ProximityBoard()
        func hear(_ steps: Range<Int>) {
            for step in steps {
                _ = board.add(
                    Sighting(
                        time: MonotonicTime(sinceStart: .milliseconds(100 * step)),
                        eid: eid,
                        carrier: .serviceData,
                        rssi: RSSI(dBm: -64),
                        adapter: "hci0"
                    )
                )
            }
        }
        hear(0..<10)
        #expect(board[eid]?.verdict == .far)
        var policy = ProximityPolicy()
        policy.calibrations["hci0"] = try Calibration(tap: around(-65), metre: around(-90))
        board.apply(policy)
        hear(10..<30)
        #expect(board[eid]?.verdict == .tap)
    }
}
