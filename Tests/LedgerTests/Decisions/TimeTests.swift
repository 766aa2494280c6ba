import GotchuCore
import Ledger
import LedgerTestSupport
import Payments
import Testing

/// Locks and expiry at their exact milliseconds.
@Suite("Time")
struct TimeTests {
    @Test("A lock lasts 60 seconds and not a millisecond more")
    func lease() {
        var rig = Rig()
        rig.bring(to: .locked)
        rig.time += 59_999
        #expect(rig.submit(.lock(session: 0, user: 2)).reason == .sessionBusy)
        rig.time += 1
        #expect(rig.submit(.lock(session: 0, user: 2)).reason == nil)
        #expect(
            rig.submit(.send(session: 0, user: 1, key: 0, expected: nil)).reason == .sessionBusy
        )
    }

    @Test("A payer must lock again after their lock ended, even if no other payer has locked")
    func lapsed() {
        var rig = Rig()
        rig.bring(to: .locked)
        rig.time += 60_000
        let late = rig.submit(.send(session: 0, user: 1, key: 0, expected: nil))
        #expect(late.reason == .sessionNotLocked)
        rig.submit(.lock(session: 0, user: 1))
        #expect(rig.submit(.send(session: 0, user: 1, key: 1, expected: nil)).reason == nil)
    }

    @Test("A second lock by the same payer succeeds and does not extend the first lock")
    func relock() {
        var rig = Rig()
        rig.bring(to: .locked)
        rig.time += 30_000
        let before = rig.books
        let again = rig.submit(.lock(session: 0, user: 1)).session
        #expect(again?.state == .locked(by: Cast.users[1], until: Timestamp(milliseconds: 61_000)))
        #expect(again?.lockExpiresAt == Timestamp(milliseconds: 61_000))
        #expect(rig.books == before)
    }

    @Test("A lock never outlives its session")
    func lockNearTheEnd() {
        var rig = Rig()
        rig.submit(.create(session: 0, payee: 0, amount: 5, seconds: 30, proposesTaken: false))
        let locked = rig.submit(.lock(session: 0, user: 1)).session
        #expect(locked != nil)
        #expect(locked?.lockExpiresAt == locked?.expiresAt)
    }

    @Test("A session expires exactly at its expiry time")
    func expiry() {
        var rig = Rig()
        rig.bring(to: .advertising)
        rig.time += 299_999
        #expect(rig.submit(.expire(session: 0)).session?.status == .advertising)
        #expect(rig.submit(.lock(session: 0, user: 1)).reason == nil)
        rig.time += 1
        let late = rig.submit(.send(session: 0, user: 1, key: 0, expected: nil))
        #expect(late.reason == .sessionExpired)
        #expect(rig.submit(.expire(session: 0)).session?.status == .expired)
    }

    @Test("A payment submitted before its lock's end is accepted, even beside a much later command")
    func acceptedInTime() {
        var rig = Rig()
        rig.bring(to: .locked)
        // The time of the batch does not matter: its commands have their own times.
        let inTime = Step(
            time: rig.time + 59_999,
            action: .send(session: 0, user: 1, key: 0, expected: nil)
        )
        let later = Step(time: rig.time + 400_000, action: .expire(session: 0))
        let commands = [inTime.submission(number: 50), later.submission(number: 51)]
        rig.commit(commands)
        #expect(commands[0].answer?.payment != nil)
        #expect(commands[1].answer?.session?.status == .paid)
    }

    @Test("An expiry recorded twice changes nothing the second time")
    func expireTwice() {
        var rig = Rig()
        rig.bring(to: .expired)
        rig.submit(.expire(session: 0))
        let before = rig.books
        rig.submit(.expire(session: 0))
        #expect(rig.books == before)
    }
}
