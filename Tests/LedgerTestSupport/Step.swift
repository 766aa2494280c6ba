internal import GotchuCore
internal import Ledger
internal import Payments

/// One command of a property test. It consists of small numbers, so that a developer can read a
/// failing sequence.
package struct Step: Sendable {
    package enum Action: Sendable {
        case open(user: Int)
        /// `proposesTaken` is true if the first proposed EID is the EID of the session before.
        case create(
            session: Int,
            payee: Int,
            amount: Int64,
            seconds: Int64,
            proposesTaken: Bool,
            allowsTip: Bool = false
        )
        case lock(session: Int, user: Int)
        case unlock(session: Int, user: Int)
        case cancel(session: Int, user: Int)
        /// `eid` and `replaces` are the numbers of EIDs in `Cast`.
        case rotate(session: Int, user: Int, eid: Int, replaces: Int?)
        case send(session: Int, user: Int, key: Int, expected: Int64?, tip: Int64 = 0)
        case refund(session: Int, user: Int, key: Int, amount: Int64?)
        case expire(session: Int)
        /// A call about a bill or a contest, which only tests of servers make.
        case shared(SharedAction, session: Int, user: Int)
    }

    /// The ledger's time of the command, in milliseconds.
    package let time: Int64
    package let action: Action

    package init(time: Int64, action: Action) {
        self.time = time
        self.action = action
    }

    /// Returns the command for the ledger. `number` is a part of the request's id.
    package func submission(number: Int) -> Submitted {
        let at = Timestamp(milliseconds: time)
        switch action {
        case .open(let user):
            return Submitted(Cast.openAccount(user), at: at)
        case .create(
            let session,
            let payee,
            let amount,
            let seconds,
            let proposesTaken,
            let allowsTip
        ):
            let own = Cast.eids[session]
            let create = CreateSession(
                id: Cast.sessions[session],
                payee: Cast.users[payee],
                amount: Money(minorUnits: amount),
                memo: nil,
                reference: nil,
                lifetime: .seconds(seconds),
                allowsTip: allowsTip,
                eids: proposesTaken ? [Cast.eids[max(0, session - 1)], own] : [own]
            )
            return Submitted(create, at: at)
        case .lock(let session, let user):
            let lock = LockSession(session: Cast.sessions[session], payer: Cast.users[user])
            return Submitted(lock, at: at)
        case .unlock(let session, let user):
            let unlock = UnlockSession(session: Cast.sessions[session], payer: Cast.users[user])
            return Submitted(unlock, at: at)
        case .cancel(let session, let user):
            let cancel = CancelSession(session: Cast.sessions[session], payee: Cast.users[user])
            return Submitted(cancel, at: at)
        case .rotate(let session, let user, let eid, let replaces):
            let rotate = RotateEID(
                session: Cast.sessions[session],
                payee: Cast.users[user],
                replaced: replaces.map { Cast.eids[$0] },
                eids: [Cast.eids[eid]]
            )
            return Submitted(rotate, at: at)
        case .send(let session, let user, let key, let expected, let tip):
            let pay = Pay(
                session: Cast.sessions[session],
                payer: Cast.users[user],
                expectedAmount: expected,
                tip: tip
            )
            return Submitted(pay, as: request(session, user, key, expected, tip, number), at: at)
        case .refund(let session, let user, let key, let amount):
            let refund = RefundPayment(
                session: Cast.sessions[session],
                payee: Cast.users[user],
                amount: amount
            )
            return Submitted(refund, as: request(session, user, key, amount, 0, number), at: at)
        case .expire(let session):
            return Submitted(SettleSession(Cast.sessions[session]), at: at)
        case .shared: preconditionFailure("what several pay is asked of servers")
        }
    }

    private func request(
        _ session: Int,
        _ user: Int,
        _ key: Int,
        _ amount: Int64?,
        _ tip: Int64,
        _ number: Int
    ) -> KeyedRequest {
        Cast.request(
            user: user,
            key: key,
            session: session,
            amount: amount,
            tip: tip,
            id: "request-\(number)"
        )
    }
}
