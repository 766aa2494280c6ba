import GotchuCore
import Ledger
import LedgerTestSupport
import Testing

/// Leases and expiry, at their edges.
@Suite("Time")
struct TimeTests {
    @Test("a lock lasts 60 seconds and not a millisecond more")
    func lease() {
        var rig = Rig()
        rig.bring(to: .locked)
        rig.time += 59_999
        #expect(rig.take(.lock(session: 0, user: 2)).reason == .sessionBusy)
        rig.time += 1
        #expect(rig.take(.lock(session: 0, user: 2)).reason == nil)
        #expect(rig.take(.send(session: 0, user: 1, key: 0, expected: nil)).reason == .sessionBusy)
    }

    @Test("a lapsed lock must be taken anew, even if nobody else wanted it")
    func lapsed() {
        var rig = Rig()
        rig.bring(to: .locked)
        rig.time += 60_000
        let late = rig.take(.send(session: 0, user: 1, key: 0, expected: nil))
        #expect(late.reason == .sessionNotLocked)
        rig.take(.lock(session: 0, user: 1))
        #expect(rig.take(.send(session: 0, user: 1, key: 1, expected: nil)).reason == nil)
    }

    @Test("locking again neither fails nor renews the lease")
    func relock() {
        var rig = Rig()
        rig.bring(to: .locked)
        rig.time += 30_000
        let before = rig.books
        let again = rig.take(.lock(session: 0, user: 1)).session
        #expect(again?.lockExpiresAt == Timestamp(milliseconds: 61_000))
        #expect(rig.books == before)
    }

    @Test("a lock never outlives its session")
    func lockNearTheEnd() {
        var rig = Rig()
        rig.take(.create(session: 0, payee: 0, amount: 5, seconds: 30, proposesTaken: false))
        let locked = rig.take(.lock(session: 0, user: 1)).session
        #expect(locked?.lockExpiresAt == locked?.expiresAt)
    }

    @Test("a session ends at exp_at exactly")
    func expiry() {
        var rig = Rig()
        rig.bring(to: .advertising)
        rig.time += 299_999
        #expect(rig.take(.expire(session: 0)).session?.status == .advertising)
        #expect(rig.take(.lock(session: 0, user: 1)).reason == nil)
        rig.time += 1
        let late = rig.take(.send(session: 0, user: 1, key: 0, expected: nil))
        #expect(late.reason == .sessionExpired)
        #expect(rig.take(.expire(session: 0)).session?.status == .timeout)
    }

    @Test("a payment accepted before the end is good although it is decided after")
    func acceptedInTime() {
        var rig = Rig()
        rig.bring(to: .locked)
        // The batch is decided and committed whenever it is: its commands carry their own times.
        let inTime = Step(
            time: rig.time + 59_999,
            action: .send(session: 0, user: 1, key: 0, expected: nil)
        )
        let later = Step(time: rig.time + 400_000, action: .expire(session: 0))
        let commands = [inTime.command(number: 50), later.command(number: 51)]
        let decision = apply(commands, to: rig.books.load(Footprint(commands)))
        #expect(decision.answers[0].reason == nil)
        #expect(decision.answers[1].session?.status == .paid)
    }

    @Test("writing down the end twice changes nothing the second time")
    func expireTwice() {
        var rig = Rig()
        rig.bring(to: .timeout)
        rig.take(.expire(session: 0))
        let before = rig.books
        rig.take(.expire(session: 0))
        #expect(rig.books == before)
    }
}
