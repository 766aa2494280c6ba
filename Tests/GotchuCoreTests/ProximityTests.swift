import TestSupport
import Testing

@testable import GotchuCore

@Suite("Proximity")
struct ProximityTests {
    private let kiosk = EID(literal: "a1b2c3d4e5")
    private let other = EID(literal: "0f0f0f0f0f")

    private func time(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(sinceStart: .milliseconds(milliseconds))
    }

    private func sighting(
        _ eid: EID,
        _ dBm: Int?,
        at milliseconds: Int,
        adapter: String = "hci0"
    ) -> Sighting {
        Sighting(
            time: time(milliseconds),
            eid: eid,
            carrier: .serviceData,
            rssi: dBm.flatMap(RSSI.init(dBm:)),
            adapter: adapter
        )
    }

    @Test("A till close to the device is a tap with its second advertisement, not with its first")
    func tap() {
        var board = ProximityBoard()
        _ = board.add(sighting(kiosk, -36, at: 0))
        #expect(board[kiosk]?.verdict == .near)
        let changes = board.add(sighting(kiosk, -36, at: 100))
        #expect(changes.changed == [kiosk])
        #expect(board[kiosk]?.verdict == .tap)
    }

    @Test("Reports in quick succession count little more than one")
    func burst() {
        var board = ProximityBoard()
        for at in 0..<10 { _ = board.add(sighting(kiosk, -40, at: at)) }
        #expect(board[kiosk]?.verdict == .near)
    }

    @Test("Less certainty makes a tap of fewer advertisements")
    func certainty() {
        func count(_ certainty: Double) -> Int {
            var policy = ProximityPolicy()
            policy.certainty = certainty
            var board = ProximityBoard(policy: policy)
            var count = 0
            while board[kiosk]?.verdict != .tap, count < 100 {
                _ = board.add(sighting(kiosk, -41, at: 100 * count))
                count += 1
            }
            return count
        }
        #expect(count(3) < count(4) && count(4) < count(5) && count(5) < count(10))
    }

    @Test("One strong sample among weak ones does not change the verdict")
    func outlier() {
        var board = ProximityBoard()
        for at in stride(from: 0, to: 3000, by: 100) {
            _ = board.add(sighting(kiosk, at == 1500 ? -30 : -80, at: at))
            #expect(board[kiosk]?.verdict == .far)
        }
    }

    @Test("A tap ends 0.5 to 1.2 s after the level falls, and a presence after 1.5 s of silence")
    func leaves() {
        var board = ProximityBoard()
        for at in stride(from: 0, through: 1000, by: 100) {
            _ = board.add(sighting(kiosk, -40, at: at))
        }
        var left: Int?
        for at in stride(from: 1100, through: 4000, by: 100) {
            _ = board.add(sighting(kiosk, -62, at: at))
            if board[kiosk]?.verdict != .tap { left = left ?? at }
        }
        let leftAt = left ?? .max
        #expect((1500...2200).contains(leftAt), "left at \(leftAt) ms")
        #expect(board.advance(to: time(5400)).lost.isEmpty)
        #expect(board.advance(to: time(5500)).lost == [kiosk])
        #expect(board.isEmpty)
    }

    @Test("Levels in the dead band around the tap threshold neither end nor begin a tap")
    func hysteresis() async {
        var generator = SeededGenerator("hysteresis")
        for start in [-40, -80] {
            var board = ProximityBoard()
            var at = 0
            for _ in 0..<20 {
                _ = board.add(sighting(kiosk, start, at: at))
                at += 100
            }
            let before = board[kiosk]?.verdict
            for index in 0..<2000 {
                if index.isMultiple(of: 64) { await Task.yield() }
                let level = Int.random(in: -52...(-47), using: &generator)
                let expected: Verdict = start == -40 ? .tap : .near
                _ = board.add(sighting(kiosk, level, at: at))
                at += 100
                if start == -40 || at > 4000 { #expect(board[kiosk]?.verdict == expected) }
            }
            #expect(before == (start == -40 ? .tap : .far))
        }
    }

    @Test("A stronger signal is never judged farther")
    func monotone() async {
        var generator = SeededGenerator("monotone")
        for _ in 0..<1000 {
            await Task.yield()
            var weak = ProximityBoard()
            var strong = ProximityBoard()
            var at = 0
            for _ in 0..<60 {
                at += Int.random(in: 20...600, using: &generator)
                let level = Int.random(in: -90...(-35), using: &generator)
                let more = Int.random(in: 0...15, using: &generator)
                _ = weak.add(sighting(kiosk, level, at: at))
                _ = strong.add(
                    sighting(kiosk, min(20, level + more) == 0 ? 1 : level + more, at: at)
                )
                #expect(rank(strong[kiosk]?.verdict) >= rank(weak[kiosk]?.verdict))
            }
        }
    }

    @Test("The reason has the odds that a till is held, and what is needed")
    func odds() throws {
        var board = ProximityBoard()
        _ = board.add(sighting(kiosk, -38, at: 0))
        let early = try #require(board[kiosk])
        #expect(early.reason(margin: nil) == "-38.0 dBm, held 11:1, 148:1 is a tap")
        for at in 1...10 { _ = board.add(sighting(kiosk, -38, at: 100 * at)) }
        let held = try #require(board[kiosk])
        #expect(held.reason(margin: 9) == "-38.0 dBm, held 148:1, leads by 9.0 dB")
        _ = board.add(sighting(other, -60, at: 1_000))
        let away = try #require(board[other])
        #expect(away.reason(margin: nil) == "-60.0 dBm, near 1:1, 148:1 is near")
        _ = board.add(sighting(other, -80, at: 1_100))
        #expect(board[other]?.reason(margin: nil).contains("near begins at -62.0") == true)
    }

    @Test("Two tills at similar levels are ambiguous until one is clearly stronger")
    func ambiguous() {
        var board = ProximityBoard()
        for at in stride(from: 0, through: 2000, by: 100) {
            _ = board.add(sighting(kiosk, -40, at: at))
            _ = board.add(sighting(other, -42, at: at + 50))
        }
        #expect(board[kiosk]?.verdict == .ambiguous)
        #expect(board[other]?.verdict == .ambiguous)
        var clear: Int?
        for at in stride(from: 2100, through: 6000, by: 100) {
            _ = board.add(sighting(kiosk, -40, at: at))
            _ = board.add(sighting(other, -58, at: at + 50))
            if board[kiosk]?.verdict == .tap { clear = clear ?? at }
        }
        #expect((2200...2700).contains(clear ?? .max))
        #expect(board[other]?.verdict != .tap)
    }

    @Test(
        "At most one of two tills with random levels is a tap, and it leads by at least 8 dB",
        arguments: 0..<4
    )
    func neverBoth(run: Int) async {
        var generator = SeededGenerator("neverBoth \(run)")
        var board = ProximityBoard()
        var at = 0
        for index in 0..<5000 {
            if index.isMultiple(of: 64) { await Task.yield() }
            at += Int.random(in: 10...150, using: &generator)
            let eid = Bool.random(using: &generator) ? kiosk : other
            _ = board.add(sighting(eid, Int.random(in: -60...(-30), using: &generator), at: at))
            let taps = board.nearestFirst.filter { $0.verdict == .tap }
            #expect(taps.count <= 1)
            if let tap = taps.first, let margin = board.margin(of: tap) { #expect(margin >= 8) }
        }
    }

    @Test("A till of unknown level is far, unless the policy accepts unknown levels")
    func unknownLevel() {
        var board = ProximityBoard()
        var accepting = ProximityPolicy()
        accepting.acceptsUnknownRSSI = true
        var lenient = ProximityBoard(policy: accepting)
        for at in stride(from: 0, through: 3000, by: 100) {
            _ = board.add(sighting(kiosk, nil, at: at))
            _ = lenient.add(sighting(kiosk, nil, at: at))
        }
        #expect(board[kiosk]?.verdict == .far)
        #expect(lenient[kiosk]?.verdict == .tap)
    }

    @Test("An EID is far if one adapter measures it far, despite another adapter's old samples")
    func staleAdapter() {
        var board = ProximityBoard()
        for at in stride(from: 0, through: 1000, by: 100) {
            _ = board.add(sighting(kiosk, -40, at: at, adapter: "hci0"))
        }
        for at in stride(from: 1100, through: 5000, by: 100) {
            _ = board.add(sighting(kiosk, -80, at: at, adapter: "hci1"))
        }
        #expect(board[kiosk]?.verdict == .far)
    }

    @Test("Thousands of far EIDs do not exceed the limit of presences or remove a near EID")
    func bounded() async {
        var generator = SeededGenerator("bounded")
        var board = ProximityBoard()
        var at = 0
        for index in 0..<3_000 * effort {
            if index.isMultiple(of: 64) { await Task.yield() }
            at += 1
            _ = board.add(sighting(.random(using: &generator), -80, at: at))
            if index.isMultiple(of: 100) { _ = board.add(sighting(kiosk, -40, at: at)) }
        }
        #expect(board.nearestFirst.count <= ProximityPolicy.presenceLimit)
        #expect(board[kiosk]?.verdict == .tap)
    }

    @Test("An EID without a session makes no till ambiguous, and is far even at a strong level")
    func unranked() {
        var board = ProximityBoard()
        let stranger = EID(literal: "ffffffffff")
        for at in stride(from: 0, through: 2_000, by: 100) {
            _ = board.add(sighting(kiosk, -40, at: at))
            _ = board.add(sighting(stranger, -38, at: at + 1))
        }
        #expect(board[kiosk]?.verdict == .ambiguous && board[stranger]?.verdict == .ambiguous)
        board.record(stranger, .noSession)
        for at in stride(from: 2_100, through: 3_000, by: 100) {
            _ = board.add(sighting(kiosk, -40, at: at))
            _ = board.add(sighting(stranger, -38, at: at + 1))
        }
        #expect(board[kiosk]?.verdict == .tap && board[stranger]?.verdict == .far)
        #expect(
            board[stranger]?.reason(margin: nil)
                == "-38.0 dBm, and there is nothing to pay under it"
        )
        board.record(stranger, .unknown)
        _ = board.advance(to: time(3_100))
        #expect(board[kiosk]?.verdict == .ambiguous)
    }

    @Test("Two EIDs of one session count as one till, and another session is another till")
    func sameSession() throws {
        var board = ProximityBoard()
        let old = EID(literal: "1111111111")
        let session = try #require(SessionID(rawValue: "s"))
        let second = try #require(SessionID(rawValue: "t"))
        for at in stride(from: 0, through: 1_000, by: 100) {
            _ = board.add(sighting(old, -40, at: at))
        }
        board.record(old, .session(session))
        #expect(board[old]?.verdict == .tap)
        // The two EIDs count as two tills until the server has resolved the new EID.
        for at in stride(from: 1_100, through: 1_500, by: 100) {
            _ = board.add(sighting(old, -40, at: at))
            _ = board.add(sighting(kiosk, -41, at: at + 1))
        }
        #expect(board[old]?.verdict == .ambiguous)
        board.record(kiosk, .session(session))
        for at in stride(from: 1_600, through: 2_500, by: 100) {
            if at < 2_000 { _ = board.add(sighting(old, -40, at: at)) }
            _ = board.add(sighting(kiosk, -41, at: at + 1))
            if at > 1_900 { #expect(board[kiosk]?.verdict == .tap) }
        }
        #expect(board.verdict(on: session) == .tap)
        for at in stride(from: 2_600, through: 3_500, by: 100) {
            _ = board.add(sighting(kiosk, -41, at: at))
            _ = board.add(sighting(other, -42, at: at + 1))
            board.record(other, .session(second))
        }
        #expect(board[kiosk]?.verdict == .ambiguous && board[other]?.verdict == .ambiguous)
    }

    @Test("A till beside EIDs that change is a tap after each was refused, and not before")
    func changing() throws {
        var board = ProximityBoard()
        let session = try #require(SessionID(rawValue: "s"))
        var random = SeededGenerator("changing EIDs")
        var made = EID.random(using: &random)
        var taps = 0
        for at in stride(from: 0, through: 30_000, by: 100) {
            if at % 3_000 == 0 { made = EID.random(using: &random) }
            _ = board.add(sighting(kiosk, -40, at: at))
            if at == 300 { board.record(kiosk, .session(session)) }
            // The payment server answers after half a second.
            if at % 3_000 == 500 { board.record(made, .noSession) }
            _ = board.add(sighting(made, -39, at: at + 1))
            if board[kiosk]?.verdict == .tap { taps += 1 }
            #expect(board[kiosk]?.verdict != .tap || at % 3_000 >= 500)
            #expect(board[made]?.verdict != .tap)
        }
        #expect(taps >= 200, "\(taps) of 300")
        // A stronger unresolved EID prevents a tap of the known till.
        for at in stride(from: 30_100, through: 33_000, by: 100) {
            _ = board.add(sighting(kiosk, -44, at: at))
            _ = board.add(sighting(other, -34, at: at + 1))
        }
        #expect(board[kiosk]?.verdict != .tap)
    }

    @Test("A board that is full of near EIDs accepts a stronger EID")
    func full() {
        var generator = SeededGenerator("full")
        var board = ProximityBoard()
        let crowd = (0..<300).map { _ in EID.random(using: &generator) }
        for round in 0..<10 {
            for eid in crowd { _ = board.add(sighting(eid, -50, at: round * 100)) }
        }
        for at in stride(from: 1_000, through: 2_000, by: 100) {
            _ = board.add(sighting(kiosk, -36, at: at))
            for eid in crowd { _ = board.add(sighting(eid, -50, at: at + 1)) }
        }
        #expect(board.count == ProximityPolicy.presenceLimit)
        #expect(board[kiosk]?.verdict == .tap)
    }

    private func rank(_ verdict: Verdict?) -> Int {
        switch verdict {
        case .tap: 2
        case .near: 1
        case .far, .ambiguous, nil: 0
        }
    }
}
