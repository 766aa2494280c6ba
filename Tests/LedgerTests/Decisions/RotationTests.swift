import GotchuCore
import Ledger
import LedgerTestSupport
import Testing

@testable import Payments

/// A session that changes its EID.
@Suite("EID rotation")
struct RotationTests {
    private static let states: [SessionStatus] = [
        .advertising, .locked, .paid, .expired, .cancelled,
    ]

    private let rotate = Step.Action.rotate(session: 0, user: 0, eid: 5, replaces: 0)

    @Test("Only the payee can rotate the EID, while the session is live", arguments: states)
    func life(status: SessionStatus) {
        let expected: Refusal.Reason? =
            switch status {
            case .created, .advertising, .locked: nil
            case .paid: .sessionPaid
            case .expired: .sessionExpired
            case .cancelled: .sessionCancelled
            }
        var rig = Rig()
        rig.bring(to: status)
        let before = rig.books
        let other = Step.Action.rotate(session: 0, user: 1, eid: 5, replaces: 0)
        #expect(rig.submit(other).reason == .forbidden)
        #expect(rig.books == before)
        #expect(rig.submit(rotate).reason == expected)
        if expected != nil { #expect(rig.books == before) }
    }

    @Test("A rotation keeps the old EID for 60 seconds, and never beyond the session's end")
    func overlap() {
        var rig = Rig()
        rig.bring(to: .advertising)
        let first = rig.submit(rotate).rotation
        #expect(first?.session.eid == Cast.eids[5])
        #expect(first?.session.version == 2)
        #expect(first?.replaced == Cast.eids[0])
        #expect(first?.replacedUntil == Timestamp(milliseconds: 61_000))
        rig.time += 250_000
        let late = rig.submit(.rotate(session: 0, user: 0, eid: 6, replaces: 5)).rotation
        #expect(late?.replacedUntil == late?.session.expiresAt)
        #expect(rig.books.complaint == nil)
    }

    @Test("A rotation requested again for the same EID gives the same answer and changes nothing")
    func lostAnswer() {
        var rig = Rig()
        rig.bring(to: .locked)
        let first = rig.submit(rotate)
        let before = rig.books
        rig.time += 1_000
        #expect(first.rotation != nil)
        #expect(rig.submit(.rotate(session: 0, user: 0, eid: 6, replaces: 0)) == first)
        #expect(rig.books == before)
        // A call that names no EID to replace gets a new EID.
        let another = rig.submit(.rotate(session: 0, user: 0, eid: 6, replaces: nil)).rotation
        #expect(another?.session.eid == Cast.eids[6])
        // A call that names the EID of two rotations ago gets the present EID.
        let behind = rig.submit(.rotate(session: 0, user: 0, eid: 7, replaces: 0)).rotation
        #expect(behind?.session.eid == Cast.eids[6])
    }

    @Test("A rotation replaces only an EID of its own session")
    func otherEID() {
        var rig = Rig()
        rig.bring(to: .advertising)
        rig.submit(.create(session: 1, payee: 0, amount: 5, seconds: 300, proposesTaken: false))
        let before = rig.books
        for eid in [1, 9] {
            let step = Step.Action.rotate(session: 0, user: 0, eid: 5, replaces: eid)
            #expect(rig.submit(step).reason == .unknownEID)
        }
        let taken = Step.Action.rotate(session: 0, user: 0, eid: 1, replaces: 0)
        #expect(rig.submit(taken).reason == .noFreeEID)
        #expect(rig.books == before)
    }

    @Test("A retired EID is never reused")
    func notReused() {
        var rig = Rig()
        rig.bring(to: .advertising)
        rig.submit(rotate)
        rig.time += 10_000_000
        let create = Step.Action.create(
            session: 1,
            payee: 0,
            amount: 5,
            seconds: 300,
            proposesTaken: true
        )
        #expect(rig.submit(create).session?.eid == Cast.eids[1])
    }

    @Test("The number of a session's rotations is limited")
    func limit() {
        var rig = Rig()
        rig.bring(to: .advertising)
        var answers: [StepAnswer] = []
        for _ in 0...24 {
            let next = RotateEID(session: Cast.sessions[0], payee: Cast.users[0], replaced: nil)
            answers.append(rig.decide(next))
        }
        #expect(answers.dropLast().allSatisfy { $0.rotation != nil })
        #expect(answers.last?.reason == .tooManyRotations)
    }
}
