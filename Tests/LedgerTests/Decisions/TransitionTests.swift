import GotchuCore
import Ledger
import LedgerTestSupport
import Payments
import Testing

/// Every action in every state, by permitted users and by others.
@Suite("Session states")
struct TransitionTests {
    private static let states: [SessionStatus] = [
        .advertising, .locked, .paid, .expired, .cancelled,
    ]

    @Test("Another payer can lock only a free session", arguments: states)
    func lock(status: SessionStatus) {
        let expected: Refusal.Reason? =
            switch status {
            case .created, .advertising: nil
            case .locked: .sessionBusy
            case .paid: .sessionPaid
            case .expired: .sessionExpired
            case .cancelled: .sessionCancelled
            }
        expect(.lock(session: 0, user: 2), in: status, is: expected)
    }

    @Test("Only the payer who holds a session can unlock it", arguments: states)
    func unlock(status: SessionStatus) {
        let expected: Refusal.Reason? =
            switch status {
            case .created, .advertising: .sessionNotLocked
            case .locked: nil
            case .paid: .sessionPaid
            case .expired: .sessionExpired
            case .cancelled: .sessionCancelled
            }
        expect(.unlock(session: 0, user: 1), in: status, is: expected)
        if status == .locked { expect(.unlock(session: 0, user: 2), in: status, is: .forbidden) }
    }

    @Test(
        "The payee can cancel until a payer holds the session, also repeatedly",
        arguments: states
    )
    func cancel(status: SessionStatus) {
        let expected: Refusal.Reason? =
            switch status {
            case .created, .advertising, .cancelled: nil
            case .locked: .sessionBusy
            case .paid: .sessionPaid
            case .expired: .sessionExpired
            }
        expect(.cancel(session: 0, user: 0), in: status, is: expected)
        expect(.cancel(session: 0, user: 1), in: status, is: .forbidden)
    }

    @Test(
        "Only a locked session can be paid, and only by the payer who holds it",
        arguments: states
    )
    func send(status: SessionStatus) {
        let expected: Refusal.Reason? =
            switch status {
            case .created, .advertising: .sessionNotLocked
            case .locked: nil
            case .paid: .sessionPaid
            case .expired: .sessionExpired
            case .cancelled: .sessionCancelled
            }
        expect(.send(session: 0, user: 1, key: 0, expected: 5), in: status, is: expected)
        if status == .locked {
            expect(.send(session: 0, user: 2, key: 0, expected: 5), in: status, is: .sessionBusy)
        }
    }

    @Test("The payee can neither lock nor pay their own session")
    func ownSession() {
        expect(.lock(session: 0, user: 0), in: .advertising, is: .ownSession)
        expect(.send(session: 0, user: 0, key: 0, expected: nil), in: .locked, is: .ownSession)
    }

    private func expect(
        _ action: Step.Action,
        in status: SessionStatus,
        is reason: Refusal.Reason?
    ) {
        var rig = Rig()
        rig.bring(to: status)
        let before = rig.books
        let answer = rig.submit(action)
        #expect(answer.reason == reason, "\(action) in \(status)")
        #expect(rig.books.complaint == nil)
        guard reason != nil else { return }
        // A remembered refusal changes only the answers.
        if answer.isRemembered { rig.books.rows.answers = before.rows.answers }
        #expect(rig.books == before)
    }

    @Test("Each change of a session increases its version by one")
    func versions() {
        var rig = Rig()
        rig.bring(to: .advertising)
        #expect(rig.submit(.lock(session: 0, user: 1)).session?.version == 2)
        #expect(rig.submit(.unlock(session: 0, user: 1)).session?.version == 3)
        #expect(rig.submit(.cancel(session: 0, user: 0)).session?.version == 4)
        #expect(rig.submit(.cancel(session: 0, user: 0)).session?.version == 4)
    }
}
