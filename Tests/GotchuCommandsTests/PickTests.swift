import GotchuAPI
import GotchuCore
import ServiceProcess
import TestSupport
import Testing

@testable import GotchuCommands

@Suite("A presence is picked only if it is the only candidate")
struct PickTests {
    /// - Parameter session: The id of the presence's session; `own` for a session that no other
    ///   presence has; `nil` if the payment server has not resolved the EID.
    private func presence(
        _ number: Int,
        _ verdict: Verdict,
        of session: String? = "own",
        heardAt milliseconds: Int64 = 0
    ) -> PresenceView {
        let sid = session.flatMap { SessionID(rawValue: $0 == "own" ? "session-\(number)" : $0) }
        return PresenceView(
            eid: EID(literal: "000000000\(number)"),
            verdict: verdict,
            rssiDBm: -40,
            smoothedDBm: -40,
            marginDB: nil,
            carrier: .serviceData,
            adapter: "simulated",
            firstHeardAt: Timestamp(milliseconds: milliseconds),
            lastHeardAt: Timestamp(milliseconds: milliseconds),
            rateHz: 10,
            reason: "",
            session: sid.map {
                ResolvedSession(
                    sid: $0,
                    amountCents: 500,
                    currency: .usd,
                    payee: "Shop",
                    payeeID: nil,
                    memo: nil,
                    status: nil,
                    expiresAt: nil
                )
            }
        )
    }

    private func list(of presences: PresenceView...) -> PresenceList {
        var list = PresenceList()
        for presence in presences { _ = list.apply(.presenceChanged(presence)) }
        return list
    }

    private func isAmbiguous(_ pick: PresenceList.Pick) -> Bool {
        if case .ambiguous(let several) = pick { return several.count > 1 }
        return false
    }

    private func list(_ verdicts: [Verdict]) -> PresenceList {
        var list = PresenceList()
        for (number, verdict) in verdicts.enumerated() {
            _ = list.apply(.presenceChanged(presence(number, verdict)))
        }
        return list
    }

    @Test("A single candidate of two presences is picked, and two candidates are ambiguous")
    func twoPresences() {
        for first in Verdict.allCases {
            for second in Verdict.allCases {
                let list = list([first, second])
                let all = [first, second]
                let tap = list.pick(reach: .tap)
                let near = list.pick(reach: .near)
                if all.count(where: { $0 == .tap }) == 1 {
                    let index = first == .tap ? 0 : 1
                    #expect(tap == .one(presence(index, .tap)))
                    #expect(near == tap)
                } else if all == [.tap, .tap] || all.contains(.ambiguous) {
                    let ambiguous = all.filter { $0 == .ambiguous || $0 == .tap }.count
                    #expect(isAmbiguous(tap) == (ambiguous > 1))
                    #expect(near == tap)
                } else {
                    #expect(tap == .nothing)
                    switch all.count(where: { $0 == .near }) {
                    case 0: #expect(near == .nothing)
                    case 1: #expect(near == .one(presence(first == .near ? 0 : 1, .near)))
                    default: #expect(isAmbiguous(near))
                    }
                }
            }
        }
        #expect(list([]).pick(reach: .near) == .nothing)
    }

    @Test("A presence without a session is not picked, and is not left out beside a known till")
    func unresolved() {
        let till = presence(1, .near)
        let (first, second) = (presence(2, .near, of: nil), presence(3, .near, of: nil))
        let beside = list(of: till, first, second)
        #expect(isAmbiguous(beside.pick(reach: .near)))
        #expect(beside.pick(reach: .tap) == .nothing)
        let alone = list(of: first)
        #expect(alone.pick(reach: .near) == .ambiguous([first]))
        let tap = presence(4, .tap, of: nil)
        #expect(list(of: tap, till).pick(reach: .tap) == .ambiguous([tap]))
        let event = Event.presenceLost(EID(literal: "0123456789"))
        #expect(WaitCondition.near.evaluate(event, list: alone) == .pending)
        #expect(WaitCondition.near.evaluate(event, list: beside) == .holds)
        let late = WaitCondition.tap.failure(within: "3 seconds")
        #expect(late == "No till was at tap distance within 3 seconds.")
    }

    @Test("The newer of two EIDs of one session is picked")
    func rotated() {
        for verdict in [Verdict.tap, .near] {
            let old = presence(1, verdict, of: "s", heardAt: 1)
            let new = presence(2, verdict, of: "s", heardAt: 2)
            #expect(list(of: old, new).pick(reach: .near) == .one(new))
            #expect(list(of: new, old).pick(reach: .near) == .one(new))
        }
    }

    @Test("A list of presences reports presences that are new, are lost or have left its zone")
    func news() {
        var list = PresenceList(wanted: [.tap, .near])
        #expect(list.apply(.presenceChanged(presence(1, .far))) == [])
        #expect(list.apply(.presenceChanged(presence(1, .near))) == [.seen(presence(1, .near))])
        #expect(list.apply(.presenceChanged(presence(1, .near))) == [])
        #expect(list.apply(.presenceChanged(presence(2, .tap))) == [.seen(presence(2, .tap))])
        #expect(list.sorted.map(\.verdict) == [.tap, .near])
        let lost = PresenceList.Change.lost(EID(literal: "0000000001"))
        #expect(list.apply(.presenceChanged(presence(1, .far))) == [lost])
        #expect(list.apply(.presenceLost(EID(literal: "0000000001"))) == [])
        let gone = PresenceList.Change.lost(EID(literal: "0000000002"))
        #expect(list.apply(.presenceLost(EID(literal: "0000000002"))) == [gone])
        #expect(list.sorted.isEmpty)
    }

    @Test("The question before a payment names the share of a bill or the entry to a contest")
    func purpose() throws {
        var session = try #require(presence(1, .tap).session)
        session.memo = "Dinner"
        #expect(session.purpose == " for “Dinner”")
        func places(_ kind: String) -> Places {
            Places(kind: kind, places: 3, paid: 1, held: 0, paidCents: WireInteger(500))
        }
        session.places = places(Places.split)
        #expect(session.purpose == " for “Dinner”, one of 3 shares of a bill (1 paid)")
        session.places = places(Places.entry)
        #expect(session.purpose == " for “Dinner”, which enters you in the contest")
        session.places = places("raffle")
        #expect(session.purpose == " for “Dinner”")
    }

    @Test("Every problem code has a failing exit status and a gotchu-ctl command as its fix")
    func exitCodes() {
        for code in ErrorCode.allCases {
            #expect(code.exitStatus != .done)
            #expect(code.defaultFix.hasPrefix("gotchu-ctl "))
        }
    }
}
