import TestSupport
import Testing

@testable import GotchuCore

/// Tests of the nearness decision while the payment server's answers are missing, late or wrong
/// for a time.
@Suite("Nearness without the payment server's answers")
struct NearnessAnswersTests {
    private let kiosk = EID(literal: "a1b2c3d4e5")
    private let other = EID(literal: "0f0f0f0f0f")
    private let session: SessionID
    private let neighbour: SessionID

    init() throws {
        session = try #require(SessionID(rawValue: "s"))
        neighbour = try #require(SessionID(rawValue: "t"))
    }

    private func time(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(sinceStart: .milliseconds(milliseconds))
    }

    private func sighting(_ eid: EID, _ dBm: Int?, at milliseconds: Int) -> Sighting {
        Sighting(
            time: time(milliseconds),
            eid: eid,
            carrier: .serviceData,
            rssi: dBm.flatMap(RSSI.init(dBm:)),
            adapter: "hci0"
        )
    }

    /// Returns a board that has heard both EIDs for three seconds, at these levels.
    private func board(_ level: Int, _ otherLevel: Int) -> ProximityBoard {
        var board = ProximityBoard()
        for at in stride(from: 0, through: 3_000, by: 100) {
            _ = board.add(sighting(kiosk, level, at: at))
            _ = board.add(sighting(other, otherLevel, at: at + 1))
        }
        return board
    }

    @Test("A till is ambiguous beside an EID without an answer, however long the answer takes")
    func missing() {
        var board = board(-40, -44)
        board.record(kiosk, .session(session))
        for at in stride(from: 3_100, through: 60_000, by: 100) {
            _ = board.add(sighting(kiosk, -40, at: at))
            _ = board.add(sighting(other, -44, at: at + 1))
            #expect(board[kiosk]?.verdict == .ambiguous)
        }
        #expect(board.unresolvedRivals(of: session) == [other])
        board.record(other, .noSession)
        _ = board.advance(to: time(60_200))
        #expect(board[kiosk]?.verdict == .tap && board.unresolvedRivals(of: session).isEmpty)
        board.record(other, .session(neighbour))
        _ = board.advance(to: time(60_300))
        #expect(board[kiosk]?.verdict == .ambiguous)
    }

    @Test("Only EIDs without an answer that are less than 8 dB weaker are a session's rivals")
    func rivals() {
        let stronger = EID(literal: "1111111111")
        for (level, isRival) in [(-38, true), (-47, true), (-48, false), (-60, false)] {
            var board = board(-40, level)
            board.record(kiosk, .session(session))
            #expect(board.unresolvedRivals(of: session) == (isRival ? [other] : []))
            #expect(board.unresolvedRivals(of: neighbour).isEmpty)
            _ = board.add(sighting(stronger, -20, at: 3_100))
            #expect(board.unresolvedRivals(of: session) == [stronger] + (isRival ? [other] : []))
        }
    }

    @Test("A far EID needs an answer only if it is less than 8 dB weaker than one in reach")
    func needed() throws {
        for (level, otherLevel, isNeeded) in [
            (-58, -65, true), (-58, -66, false), (-70, -71, false),
        ] {
            let board = board(level, otherLevel)
            let far = try #require(board[other])
            #expect(!far.isInReach)
            #expect(board.needsSession(far) == isNeeded)
        }
    }

    @Test("An EID that was refused makes no till ambiguous when it is lost and heard again")
    func again() {
        var board = board(-40, -41)
        board.record(kiosk, .session(session))
        board.record(other, .noSession)
        for at in stride(from: 3_100, through: 20_000, by: 100) {
            _ = board.add(sighting(kiosk, -40, at: at))
            _ = board.advance(to: time(at))
            if at == 10_000 || at == 19_000 {
                #expect(!board.contains(other))
                _ = board.add(sighting(other, -41, at: at), ifNew: .noSession)
            }
            #expect(board[kiosk]?.verdict == .tap)
        }
    }

    @Test("Two tills of unknown level are ambiguous, even if the policy accepts unknown levels")
    func unknownLevels() {
        var policy = ProximityPolicy()
        policy.acceptsUnknownRSSI = true
        var board = ProximityBoard(policy: policy)
        for at in stride(from: 0, through: 3_000, by: 100) {
            _ = board.add(sighting(kiosk, nil, at: at))
            _ = board.add(sighting(other, nil, at: at + 1))
        }
        #expect(board[kiosk]?.verdict == .ambiguous && board[other]?.verdict == .ambiguous)
        board.record(other, .noSession)
        _ = board.advance(to: time(3_100))
        #expect(board[kiosk]?.verdict == .tap)
    }

    /// An advertised EID, and what the payment server knows about it.
    private struct Advert {
        let eid: EID
        let truth: Presence.Resolution
        let level: Int
        /// The interval, in milliseconds.
        let interval: Int
        /// The times of answers. An answer is `unknown` if the cached answer was evicted.
        let answers: [(at: Int, Presence.Resolution)]
        /// The times at which it is on the air.
        let onAir: ClosedRange<Int>
    }

    /// Returns up to five EIDs of two sessions and of nobody, with random levels and answers.
    private func adverts(_ random: inout SeededGenerator) -> [Advert] {
        (0..<Int.random(in: 2...5, using: &random)).map { _ in
            let truths: [Presence.Resolution] = [
                .session(session), .session(neighbour), .noSession,
            ]
            let truth = truths.randomElement(using: &random) ?? .noSession
            let answers = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                let isEvicted = Int.random(in: 0..<4, using: &random) == 0
                let answer: Presence.Resolution = isEvicted ? .unknown : truth
                return (at: Int.random(in: 0...8_000, using: &random), answer)
            }
            let start = Int.random(in: 0...4_000, using: &random)
            return Advert(
                eid: .random(using: &random),
                truth: truth,
                level: Int.random(in: -50 ... -33, using: &random),
                interval: [100, 250, 1_280].randomElement(using: &random) ?? 100,
                answers: answers,
                onAir: start...(start + Int.random(in: 1_000...9_000, using: &random))
            )
        }
    }

    @Test("No order of answers gives a tap beside another session or an EID without an answer")
    func anyOrder() async {
        var random = SeededGenerator("answers in any order")
        var taps = 0
        for _ in 0..<400 * effort {
            await Task.yield()
            let adverts = adverts(&random)
            var board = ProximityBoard()
            for at in stride(from: 0, through: 10_000, by: 50) {
                for advert in adverts {
                    for answer in advert.answers where (at - 50..<at).contains(answer.at) {
                        board.record(advert.eid, answer.1)
                    }
                    guard advert.onAir.contains(at), at % advert.interval < 50 else { continue }
                    let noise = Int.random(in: -3...3, using: &random)
                    _ = board.add(
                        sighting(advert.eid, advert.level + noise, at: at),
                        ifNew: Bool.random(using: &random) ? .unknown : advert.truth
                    )
                }
                _ = board.advance(to: time(at))
                for tap in board.nearestFirst where tap.verdict == .tap {
                    taps += 1
                    expectLead(of: tap, board)
                }
            }
        }
        #expect(taps > 1_000, "\(taps) taps")
    }

    /// Checks that every EID that was not refused, and is not known to be of the same session, is
    /// at least 8 dB weaker.
    private func expectLead(of tap: Presence, _ board: ProximityBoard) {
        func isSame(_ presence: Presence) -> Bool {
            presence.eid == tap.eid
                || presence.resolution != .unknown && presence.resolution == tap.resolution
        }
        let all = board.nearestFirst
        let own = all.filter(isSame).compactMap(\.level).max() ?? -.infinity
        for rival in all where !isSame(rival) && rival.resolution != .noSession {
            let lead = own - (rival.level ?? -.infinity)
            #expect(lead >= 8, "\(tap.eid) leads \(rival.eid), \(rival.resolution), by \(lead) dB")
        }
    }
}
